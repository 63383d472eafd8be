package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/internal/objects"
	"hdqs/internal/threshold"
	"hdqs/loader"
	"hdqs/snapshot/store"
)

// figuresFlag says how long a channel keeps what its headline figures were before.
type figuresFlag struct{ period time.Duration }

// keptPeriod is two years.
const keptPeriod = 2 * 365 * 24 * time.Hour

func (f *figuresFlag) register(fl *pflag.FlagSet) {
	numberVar(fl, &f.period, "keep-figures", keptPeriod, 0, longestPause,
		"how long earlier values of headline figures are kept in the store; 0: no figures are stored, and replicas "+
			"compute them")
}

// opener opens a snapshot of a store, which shares segments with an earlier one that is open.
type opener func(id string, earlier *store.Snapshot) (*store.Snapshot, error)

// bound binds all endpoints to a snapshot, and closes it if that fails.
func (open opener) bound(id string) (*figures.Offline, error) {
	snap, err := open(id, nil)
	if err != nil {
		return nil, err
	}
	return figures.NewOffline(snap)
}

// keptFigures are the headline figures of a publication and of the one before. Those are nil that
// are not known.
type keptFigures struct {
	before, after *figures.Kept
	hash          string // of the file, empty without one
}

// keep makes the figures of a snapshot before a channel moves to it, and stores them. others are
// publications whose figures may be of the same snapshot. Without the file their history would end,
// so nothing is published where it cannot be stored.
func (f *figuresFlag) keep(
	ctx context.Context, s *openStore, shown store.Channel, of *store.Manifest,
	open func() (*figures.Offline, error), messages io.Writer, others ...store.Pointer,
) (k keptFigures, err error) {
	if f.period == 0 {
		return k, nil
	}
	data, err := f.compute(ctx, s, shown, of, open, messages, others, &k)
	if err != nil {
		fmt.Fprintf(messages, "hdqs: warning: --keep-figures: %s is published without figures, which replicas "+
			"compute, and their history ends: %v\n", of.ID, err)
		return keptFigures{}, nil
	}
	if k.hash, err = s.Store.Snapshots.PutFigures(data); err != nil {
		return keptFigures{}, fmt.Errorf("%s: %w", withoutFigures, err)
	}
	return k, nil
}

// keepBound is keep for a snapshot that is bound, which it closes.
func (f *figuresFlag) keepBound(
	ctx context.Context, s *openStore, shown store.Channel, bound *figures.Offline, messages io.Writer,
) (keptFigures, error) {
	defer bound.Close()
	open := func() (*figures.Offline, error) { return bound, nil }
	return f.keep(ctx, s, shown, bound.Served.Bound.Snap.Manifest, open, messages)
}

const withoutFigures = "headline figures (--keep-figures 0 publishes without them)"

// keepThere is keep for a snapshot that the store has already. A load uploads the figures to a
// bucket together with its snapshot; this does it by itself.
func (f *figuresFlag) keepThere(
	cmd *cobra.Command, s *openStore, shown store.Channel, of *store.Manifest, others ...store.Pointer,
) (k keptFigures, err error) {
	ctx := cmd.Context()
	open := func() (*figures.Offline, error) { return s.opener(cmd).bound(of.ID) }
	k, err = f.keep(ctx, s, shown, of, open, cmd.ErrOrStderr(), others...)
	if err != nil || k.hash == "" || s.Remote == nil {
		return k, err
	}
	data, err := s.Store.Snapshots.Figures(store.Pointer{Figures: k.hash})
	if err == nil {
		err = objects.PutBytes(ctx, s.Remote, store.FiguresName(k.hash), data)
	}
	if err != nil {
		return keptFigures{}, fmt.Errorf("%s: %w", withoutFigures, err)
	}
	return k, nil
}

// compute makes the file of the figures of a snapshot. What the figures of a view dump cannot have,
// such as a country without a code, is an error.
func (f *figuresFlag) compute(
	ctx context.Context, s *openStore, shown store.Channel, of *store.Manifest,
	open func() (*figures.Offline, error), messages io.Writer, others []store.Pointer, k *keptFigures,
) (data []byte, err error) {
	id, making := of.ID, &figures.Making{
		Of: of, Shown: figures.Edition{Snapshot: shown.ID, Published: shown.PublishedAt},
		Since: time.Now().Add(-f.period), Open: open,
	}
	if shown.ID != "" {
		if k.before, err = s.figuresOf(ctx, shown.Pointer); err != nil {
			fmt.Fprintf(messages, "hdqs: the history of the headline figures begins with %s: those of %s cannot be "+
				"read: %v\n", id, shown.ID, err)
		}
	}
	making.Before = k.before
	for _, p := range append(others, shown.Previous...) {
		if p.ID != id {
			continue
		}
		if other, err := s.figuresOf(ctx, p); err == nil {
			making.Others = append(making.Others, other)
		}
	}
	if data, err = making.Make(); err != nil {
		return nil, err
	}
	k.after, err = figures.OpenKept(data)
	return data, err
}

// figuresOf reads the figures of a publication.
func (s *openStore) figuresOf(ctx context.Context, p store.Pointer) (*figures.Kept, error) {
	data, err := s.Store.Snapshots.Figures(p)
	if err != nil && s.Remote != nil && p.Figures != "" {
		if data, _, err = s.Remote.Read(ctx, store.FiguresName(p.Figures), "", store.MaxFigures); err == nil {
			err = store.CheckFigures(p.Figures, data)
		}
	}
	if err != nil {
		return nil, err
	}
	k, err := figures.OpenKept(data)
	if err == nil && k.Snapshot != p.ID {
		err = fmt.Errorf("the figures are of snapshot %s", k.Snapshot)
	}
	return k, err
}

// What a figure may change without being named: by so many per cent of the smaller number, which is
// threefold, or by less than so many people, events or dollars.
const (
	usualChange = 200
	usualNoise  = 100
)

// changed names the figures that have changed by more than usual, or are gone. Those of roles that
// may shrink are not named.
func (k *keptFigures) changed(
	ctx context.Context, exceptions []threshold.Exception, mayShrink []string,
) (lines []string, err error) {
	if k.before == nil || k.after == nil {
		return nil, nil
	}
	rules := threshold.Rules{Most: usualChange, Noise: usualNoise}
	for _, h := range contract.Headlines {
		role := h.List(contract.ContractNames).Name()
		if slices.Contains(mayShrink, loader.AllRoles) || slices.Contains(mayShrink, role) {
			rules.Exceptions = append(rules.Exceptions, threshold.Exception{Name: h.Name, Most: threshold.Any})
		}
	}
	rules.Exceptions = append(rules.Exceptions, exceptions...)
	before, after := threshold.Side{Figures: k.before}, threshold.Side{Figures: k.after}
	all, err := threshold.Compare(ctx, before, after, rules, time.Now())
	for i := range all {
		lines = append(lines, all[i].String())
	}
	return lines, err
}
