package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hdqs/snapshot/store"
)

func newPublish() *cobra.Command {
	var (
		f    storeFlags
		sign signFlags
	)
	cmd := &cobra.Command{
		Use:   "publish --store DST [--channel NAME] ID",
		Short: "Moves a channel to a snapshot of the store",
		Long: `Moves a channel to a snapshot of the store, and prints the keys to purge at the CDN once replicas
serve it: those that 'hdqs diff' prints for the two snapshots.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.publish(cmd, &sign, func(store.Channel) (string, error) { return args[0], nil })
		},
	}
	f.register(cmd.Flags())
	sign.register(cmd.Flags())
	return cmd
}

func newRollback() *cobra.Command {
	var (
		f    storeFlags
		sign signFlags
		to   string
	)
	cmd := &cobra.Command{
		Use:   "rollback --store DST [--channel NAME] [--to ID]",
		Short: "Moves a channel back to an earlier snapshot",
		Long: `Moves a channel back to the snapshot that it showed before the current one, or to the one named by
--to. A channel remembers its last 16 snapshots. The current one is remembered too, so a second
rollback undoes the first.

The time of publication becomes that of the rollback; no rows change. Replicas with
--require-signature follow only if the rollback is signed. The keys to purge are printed as by
'hdqs publish'.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.publish(cmd, &sign, func(c store.Channel) (string, error) {
				if to != "" {
					return to, nil
				}
				if len(c.Previous) == 0 {
					return "", fmt.Errorf("channel %s has shown nothing before %s: name a snapshot with --to",
						f.channel, c.ID)
				}
				return c.Previous[0].ID, nil
			})
		},
	}
	f.register(cmd.Flags())
	sign.register(cmd.Flags())
	cmd.Flags().StringVar(&to, "to", "", "id of the snapshot; default: the one before the current one")
	return cmd
}

// publish moves the channel to the snapshot that choose picks, and prints the keys to purge.
func (f *storeFlags) publish(
	cmd *cobra.Command, sign *signFlags, choose func(store.Channel) (string, error),
) error {
	ctx, out, messages := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	s, err := f.openExisting()
	if err == nil {
		err = sign.apply(s)
	}
	if err != nil {
		return err
	}
	if s.Remote == nil {
		release, err := s.lock("publish")
		if err != nil {
			return err
		}
		defer release()
	}
	before, err := s.history(ctx)
	if err != nil && !isAbsent(err) {
		return storeError(err)
	}
	if err := s.checkMove(before, messages); err != nil {
		return err
	}
	id, err := choose(before)
	if err == nil && id == before.ID {
		err = fmt.Errorf("channel %s shows %s already", s.ChannelName, id)
	}
	if err != nil {
		return err
	}
	if s.Remote == nil {
		// Verify all bytes, not only the directory of each segment, before everyone is served from
		// them.
		if err := s.Verify(id); err != nil {
			return s.snapshotError(ctx, id, err)
		}
		err = s.Publish(s.ChannelName, id, time.Now())
	} else {
		_, err = s.Remote.Publish(ctx, s.ChannelName, id, time.Now(), s.Store)
	}
	if err != nil {
		return s.snapshotError(ctx, id, err)
	}
	line := fmt.Sprintf("channel %s: %s", s.ChannelName, id)
	if before.ID != "" {
		line += ", before " + before.ID
	}
	if _, err := fmt.Fprintln(out, line); err != nil {
		return err
	}
	read := func(id string) (*store.Manifest, error) { return s.manifest(ctx, []string{id}, messages) }
	return printPurge(out, purgeKeys(before.ID, id, read, messages))
}

// checkMove returns an error before a signed channel is moved without a key, and warns of another
// key than that of its last move.
func (s *openStore) checkMove(before store.Channel, messages io.Writer) error {
	if s.IsOtherKey(s.ChannelName, before) {
		fmt.Fprintf(messages, "hdqs: warning: channel %s was signed with another key than --sign-key: replicas follow "+
			"only if they have the public key of this one too\n", s.ChannelName)
	}
	signed := before.Signature != "" || s.Remote == nil && s.IsSigned(s.ChannelName)
	return storeError(s.CheckMove(s.ChannelName, signed))
}

func (s *openStore) history(ctx context.Context) (store.Channel, error) {
	if s.Remote == nil {
		return s.History(s.ChannelName)
	}
	v, err := s.Remote.Read(ctx, s.ChannelName)
	return v.Channel, err
}
