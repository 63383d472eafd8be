package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hdqs/internal/fleet"
	"hdqs/internal/objects"
	"hdqs/internal/replica"
	"hdqs/snapshot/store"
)

// publishFlags say what is published, and how carefully.
type publishFlags struct {
	storeFlags
	sign   signFlags
	review reviewFlags
	deltas deltaFlag
	from   string
	canary []string
	shares []int // of replicas, in per cent, from canary
	hold   fleet.Hold
	isHeld bool
}

func newPublish() *cobra.Command {
	var f publishFlags
	cmd := &cobra.Command{
		Use:   "publish --store DST [--channel NAME] ID",
		Short: "Moves a channel to a snapshot of the store",
		Long: `Moves a channel to a snapshot of the store, and prints the keys to purge at the CDN once replicas
serve it: those that 'hdqs diff' prints for the two snapshots.

With --max-change it is compared with what the channel shows, and the channel stays if rows, places or
headline figures differ by more, in all or in a country. With --canary some replicas get it first, and
with --hold it waits until these have served it for a time. If one refuses it, or they do not serve it
within --give-up, they go back, and the channel has never moved. Replicas take part that have a name
(serve --replica) and can write to the store. --hold without --canary waits for all of them.

Exit codes: 0 the channel or the canary has moved, 1 it stays or went back, or has moved but this cannot
be printed, 2 wrong usage, 3 the store could not be reached, 4 the store is damaged or not signed.`,
		Example: `  hdqs publish --store /srv/store --max-change 50% --exceptions accepted.txt --from next
  hdqs publish --store /srv/store --canary 10%,100% --hold 10m 20261122T010200Z-1a2b3c4d`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.isHeld = cmd.Flags().Changed("hold")
			if err := f.check(args); err != nil {
				return exitWith(exitUsage, err)
			}
			return f.run(cmd, args)
		},
	}
	fl := cmd.Flags()
	f.register(fl)
	f.sign.register(fl)
	f.review.register(fl)
	f.deltas.register(fl)
	fl.StringVar(&f.from, "from", "", "publish what this channel shows, in place of ID")
	fl.StringSliceVar(&f.canary, "canary", nil, "per cent of the replicas that get the snapshot first; several "+
		"are steps, such as 10%,100%")
	numberVar(fl, &f.hold.For, "hold", 0, 0, longestWait,
		"how long the replicas of each step must serve the snapshot without a fault")
	numberVar(fl, &f.hold.Most, "give-up", 30*time.Minute, time.Second, longestWait,
		"with --hold: how long a step may take before its replicas go back")
	return cmd
}

func (f *publishFlags) check(args []string) error {
	if (len(args) == 0) == (f.from == "") {
		return errors.New("publish needs either the ID of a snapshot or --from CHANNEL")
	}
	if err := checkChannel("from", cmp.Or(f.from, stableChannel)); err != nil {
		return err
	}
	if f.review.exceptions != "" && !f.review.isSet() {
		return errors.New("--exceptions needs --max-change: nothing is compared without it")
	}
	if f.isHeld && len(f.canary) == 0 {
		f.canary = []string{"100"}
	}
	for _, text := range f.canary {
		n, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
		if err != nil || n < 1 || n > 100 {
			return fmt.Errorf("--canary %q: want 1%% to 100%%", text)
		}
		if len(f.shares) > 0 && f.shares[len(f.shares)-1] >= n {
			return fmt.Errorf("--canary %s: want each step larger than the one before", strings.Join(f.canary, ","))
		}
		f.shares = append(f.shares, n)
	}
	if !f.isHeld && len(f.shares) > 1 {
		return errors.New("--canary with several steps needs --hold")
	}
	f.hold.Pause = min(max(f.hold.For/20, time.Second), 10*time.Second)
	return f.review.read()
}

func (f *publishFlags) run(cmd *cobra.Command, args []string) error {
	s, release, err := f.begin("publish", &f.sign, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer func() { release() }()
	id, from := strings.Join(args, ""), store.Pointer{}
	if f.from != "" {
		v, err := s.read(cmd.Context(), f.from)
		if err != nil {
			from := *s
			from.ChannelName = f.from
			return storeError(fmt.Errorf("--from: %w", from.channelError(cmd.Context(), err)))
		}
		id, from = v.ID, v.Pointer
	}
	shown, err := s.toMove(cmd, id)
	if err != nil {
		return err
	}
	of, err := s.manifest(cmd.Context(), []string{id}, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	kept, err := f.review.figures.keepThere(cmd, s, shown.Channel, of, from)
	if err != nil {
		return err
	}
	if err := f.review.review(cmd.Context(), s, shown.ID, id, s.opener(cmd), kept, cmd.ErrOrStderr()); err != nil {
		return err
	}
	if s.Remote == nil {
		f.deltas.write(s, shown.Channel, id, cmd.ErrOrStderr())
	}
	if len(f.shares) == 0 {
		return s.moveMain(cmd, shown, id, kept.hash)
	}
	if shown.ID == "" {
		return usagef("channel %s shows nothing yet, so that there is nothing that replicas "+
			"could go back to: publish the first snapshot without --canary and --hold", f.channel)
	}
	for _, percent := range f.shares {
		if err := f.step(cmd, s, shown, id, kept.hash, percent, &release); err != nil {
			return err
		}
	}
	if !f.isHeld {
		return nil
	}
	return s.moveMain(cmd, shown, id, kept.hash)
}

// opener opens snapshots of the store, which are downloaded from a remote one.
func (s *openStore) opener(cmd *cobra.Command) opener {
	return func(id string, earlier *store.Snapshot) (*store.Snapshot, error) {
		return s.openNamed(cmd.Context(), []string{id}, earlier, cmd.ErrOrStderr())
	}
}

// step moves the canary and waits for a verdict. Nobody has the lock meanwhile: a load may go on,
// and ends the canary if it moves the channel.
func (f *publishFlags) step(
	cmd *cobra.Command, s *openStore, shown replica.Version, id, figures string, percent int, release *func(),
) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	seen, err := fleet.Read(ctx, s.Files(), f.channel, time.Now())
	if err != nil {
		return storeError(fmt.Errorf("the reports of replicas cannot be read: %w", err))
	}
	names := fleet.Canaries(seen, percent)
	if len(names) == 0 {
		return noCanary(f.channel, seen, percent)
	}
	name := store.CanaryOf(f.channel)
	canary, err := s.read(ctx, name)
	if err != nil && !isAbsent(err) && s.Remote != nil { // a damaged file of a directory is replaced
		return storeError(err)
	}
	if !canary.IsOf(shown.Channel) || canary.ID != id || canary.Canary.Percent != percent { // else a watch goes on
		next := store.StartCanary(shown.Channel, percent, time.Now()).WithFigures(figures)
		if canary, err = s.move(ctx, name, canary, id, next); err != nil {
			return s.snapshotError(ctx, id, err)
		}
	}
	others := "; the others stay at " + shown.ID
	if len(names) == len(seen) {
		others = ""
	}
	fmt.Fprintf(out, "canary of channel %s: %s for %d %% of replicas, %d of %d: %s%s\n", f.channel, id, percent,
		len(names), len(seen), strings.Join(names, ", "), others)
	if !f.isHeld {
		_, err := fmt.Fprintf(out, "to go on: hdqs publish ID; to end it: hdqs rollback --canary\n")
		return err
	}
	(*release)()
	*release = func() {}
	watched, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	judge := fleet.Judge{Pointer: canary.Pointer, Replicas: names}
	verdict, reasons, err := judge.Watch(watched, f.hold, func() ([]fleet.Seen, error) {
		if err := s.unmoved(ctx, shown, canary); err != nil {
			if errors.Is(err, replica.ErrConflict) {
				stop(err)
			}
			return nil, err
		}
		return fleet.Read(ctx, s.Files(), f.channel, time.Now())
	})
	if err != nil {
		return storeError(context.Cause(watched))
	}
	unlock, err := s.lockWhenFree(ctx, "publish")
	if err == nil {
		*release = unlock
		err = s.unmoved(ctx, shown, canary)
	}
	if err != nil || verdict == fleet.Served {
		return storeError(err)
	}
	end := store.EndCanary(time.Now()).WithFigures(shown.Figures)
	if _, err := s.move(ctx, name, canary, shown.ID, end); err != nil {
		return errors.Join(storeError(err), fmt.Errorf("the canary %s could not be ended", id))
	}
	what := "was not served by all its replicas within --give-up " + f.hold.Most.String()
	if verdict == fleet.Refused {
		what = "is refused"
	}
	return fmt.Errorf("snapshot %s %s, its canary went back to %s, and channel %s has not moved:\n  %s", id, what,
		shown.ID, f.channel, strings.Join(reasons, "\n  "))
}

// noCanary is the error of a canary that would have no replica.
func noCanary(channel string, seen []fleet.Seen, percent int) error {
	if least := fleet.Enough(seen); least > 0 {
		return usagef("--canary %d%%: none of the replicas that report to channel %s is among "+
			"them; %d%% has one", percent, channel, least)
	}
	why := "none has ever written a report: start them with --replica NAME, and with a store that they can write to"
	if len(seen) > 0 {
		var all []string
		for i := range seen {
			all = append(all, seen[i].Replica+": "+seen[i].Unknown())
		}
		why = strings.Join(all, "; ")
	}
	return fmt.Errorf("no replica of channel %s is known now, so that none could prove the snapshot: %s", channel, why)
}

func newRollback() *cobra.Command {
	var (
		f      storeFlags
		sign   signFlags
		kept   figuresFlag
		to     string
		canary bool
	)
	cmd := &cobra.Command{
		Use:   "rollback --store DST [--channel NAME] [--to ID | --canary]",
		Short: "Moves a channel back to an earlier snapshot",
		Long: `Moves a channel back to the snapshot that it showed before the current one, or to the one named by
--to. A channel remembers its last 16 snapshots. The current one is remembered too, so a second
rollback undoes the first. With --canary only the replicas of a canary go back.

The time of publication becomes that of the rollback; no rows change. Replicas with
--require-signature follow only if the rollback is signed. The keys to purge are printed as by
'hdqs publish'.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if canary && to != "" {
				return usagef("--canary goes back to what the channel shows: want it or --to")
			}
			s, release, err := f.begin("rollback", &sign, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer release()
			shown, err := s.toMove(cmd, to)
			if err != nil {
				return err
			}
			switch {
			case shown.ID == "":
				return s.channelError(cmd.Context(), fs.ErrNotExist)
			case canary:
				return s.endCanary(cmd, shown)
			case to == "" && len(shown.Previous) == 0:
				return fmt.Errorf("channel %s has shown nothing before %s: name a snapshot with --to", f.channel,
					shown.ID)
			case to == "":
				to = shown.Previous[0].ID
			}
			of, err := s.manifest(cmd.Context(), []string{to}, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			figures, err := kept.keepThere(cmd, s, shown.Channel, of)
			if err != nil { // a full disk must not hold wrong data in place
				fmt.Fprintf(cmd.ErrOrStderr(), "hdqs: warning: %s is shown without figures, which replicas "+
					"compute, and their history ends: %v\n", to, err)
			}
			return s.moveMain(cmd, shown, to, figures.hash)
		},
	}
	f.register(cmd.Flags())
	sign.register(cmd.Flags())
	kept.register(cmd.Flags())
	cmd.Flags().StringVar(&to, "to", "", "id of the snapshot; default: the one before the current one")
	cmd.Flags().BoolVar(&canary, "canary", false, "move the replicas of the channel's canary to what the channel shows")
	return cmd
}

// endCanary moves the replicas of a canary back.
func (s *openStore) endCanary(cmd *cobra.Command, shown replica.Version) error {
	ctx, name := cmd.Context(), store.CanaryOf(s.ChannelName)
	canary, err := s.read(ctx, name)
	switch {
	case err != nil && !isAbsent(err):
		return storeError(err)
	case !canary.IsOf(shown.Channel) || canary.ID == shown.ID:
		return fmt.Errorf("channel %s has no canary now", s.ChannelName)
	}
	end := store.EndCanary(time.Now()).WithFigures(shown.Figures)
	if _, err := s.move(ctx, name, canary, shown.ID, end); err != nil {
		return storeError(err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "canary of channel %s: %s, before %s\n", s.ChannelName, shown.ID, canary.ID)
	return err
}

// begin opens a store to change it, and locks it if it is local, unless nothing will be written and
// there is no holder.
func (f *storeFlags) begin(
	holder string, sign *signFlags, messages io.Writer,
) (s *openStore, release func(), err error) {
	if s, err = f.openExisting(); err == nil {
		err = sign.apply(s)
	}
	if err == nil && s.Remote != nil {
		s.Remote.Waiting = func(what string) {
			fmt.Fprintf(messages, "hdqs: waiting for %s: %s, for at most %s\n", f.store, what, f.timeout)
		}
	}
	if err != nil || holder == "" {
		return s, func() {}, err
	}
	if s.Remote != nil {
		return s, func() {}, checkWritable("store", f.store)
	}
	release, err = s.lock(holder)
	return s, release, err
}

// checkWritable refuses to begin what would end at the first file that it writes.
func checkWritable(flag, address string) error {
	if objects.IsRemote(address) && !strings.HasPrefix(address, "s3://") {
		return usagef("--%s %s: %w", flag, address, objects.ErrReadOnly)
	}
	return nil
}

// lockWhenFree waits for the lock of a local store, which a load may have.
func (s *openStore) lockWhenFree(ctx context.Context, holder string) (release func(), err error) {
	for {
		if s.Remote != nil {
			return func() {}, nil
		}
		if release, err = s.lock(holder); !errors.Is(err, store.ErrLocked) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return func() {}, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// toMove reads the channel before it moves to a snapshot, if that is known.
func (s *openStore) toMove(cmd *cobra.Command, id string) (replica.Version, error) {
	shown, err := s.read(cmd.Context(), s.ChannelName)
	if err != nil && !isAbsent(err) {
		return shown, storeError(err)
	}
	if err := s.checkMove(shown.Channel, cmd.ErrOrStderr()); err != nil {
		return shown, err
	}
	if id != "" && id == shown.ID {
		return shown, fmt.Errorf("channel %s shows %s already", s.ChannelName, id)
	}
	return shown, nil
}

// unmoved returns ErrConflict if the channel or its canary was moved since.
func (s *openStore) unmoved(ctx context.Context, shown, canary replica.Version) error {
	for name, was := range map[string]replica.Version{s.ChannelName: shown, store.CanaryOf(s.ChannelName): canary} {
		now, err := s.read(ctx, name)
		if err != nil {
			return err
		}
		if !now.Same(was.Pointer) {
			return fmt.Errorf("channel %s: %w, to %s: the canary %s is not watched any more", name, replica.ErrConflict,
				now.ID, canary.ID)
		}
	}
	return nil
}

// moveMain moves the channel, and prints the keys to purge.
func (s *openStore) moveMain(cmd *cobra.Command, before replica.Version, id, figures string) error {
	ctx, out, messages := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	if _, err := s.move(ctx, s.ChannelName, before, id, store.PublishAt(time.Now()).WithFigures(figures)); err != nil {
		return s.snapshotError(ctx, id, err)
	}
	line := fmt.Sprintf("channel %s: %s", s.ChannelName, id)
	if before.ID != "" {
		line += ", before " + before.ID
	}
	_, err := fmt.Fprintln(out, line)
	s.noteNew(before.ID, messages)
	read := func(id string) (*store.Manifest, error) { return s.manifest(ctx, []string{id}, messages) }
	if err = cmp.Or(err, printPurge(out, purgeKeys(before.ID, id, read, messages))); err != nil {
		return fmt.Errorf("%s: it has moved, but this cannot be printed: %w", line, err)
	}
	return nil
}

// noteNew says that a channel had shown nothing, in a store with other snapshots: its name may be
// mistyped, or its file lost, and then no load could see what it lost.
func (s *openStore) noteNew(before string, messages io.Writer) {
	if ids, _ := s.Store.Snapshots.Manifests(); before == "" && len(ids) > 1 {
		fmt.Fprintf(messages, "hdqs: channel %s is new, although the store has other snapshots: "+
			"there was nothing to compare with\n", s.ChannelName)
	}
}

// move moves a channel to a snapshot. That of a directory is verified first, all bytes and not only
// the directory of each segment: everyone will be served from them.
func (s *openStore) move(
	ctx context.Context, channel string, base replica.Version, id string, next store.Next,
) (now replica.Version, err error) {
	if s.Remote != nil {
		return s.Remote.Move(ctx, channel, base, id, next, s.Store)
	}
	if err = s.Store.Verify(id); err == nil {
		err = s.Store.Channels.Move(channel, id, next)
	}
	if err != nil {
		return now, err
	}
	return s.read(ctx, channel)
}

// checkMove returns an error before a signed channel is moved without a key, and warns of another
// key than that of its last move.
func (s *openStore) checkMove(before store.Channel, messages io.Writer) error {
	if s.Store.Keys.IsOtherKey(s.ChannelName, before) {
		fmt.Fprintf(messages, "hdqs: warning: channel %s was signed with another key than --sign-key: replicas follow "+
			"only if they have the public key of this one too\n", s.ChannelName)
	}
	if before.PublishedAt.After(time.Now().Add(time.Minute)) {
		fmt.Fprintf(messages, "hdqs: warning: channel %s was moved at %s, which is in the future: a clock is or was "+
			"wrong, and later moves count on from that time\n", s.ChannelName, before.PublishedAt.Format(time.RFC3339))
	}
	signed := before.Signature != "" || s.Remote == nil && s.Store.Channels.IsSigned(s.ChannelName)
	return storeError(s.Store.Keys.CheckMove(s.ChannelName, signed))
}

// read reads a channel of the store.
func (s *openStore) read(ctx context.Context, channel string) (v replica.Version, err error) {
	if s.Remote == nil {
		v.Channel, err = s.Store.Channels.History(channel)
		return v, err
	}
	return s.Remote.Channel(ctx, channel)
}
