package main

import (
	"context"
	"fmt"
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
		Short: "Lets a channel show a snapshot that the store has",
		Long: `Lets a channel show a snapshot that the store has, and prints the keys that an edge is to purge once replicas serve it: those of 'hdqs diff' between
what the channel showed and the snapshot.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := f.openExisting()
			if err == nil {
				err = sign.apply(st)
			}
			if err != nil {
				return err
			}
			return st.publish(cmd, func(store.Channel) (string, error) { return args[0], nil })
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
		Short: "Lets a channel show again what it showed before",
		Long: `Lets a channel show again the snapshot that it showed before the present one, or with --to an earlier one. A channel remembers the last 16.
As the present one is remembered too, a second rollback undoes the first. The published time is that of the rollback; no rows change. Replicas that ask
for signatures go back only if the rollback is signed too. The keys that an edge is to purge are printed as 'hdqs publish' does.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := f.openExisting()
			if err == nil {
				err = sign.apply(st)
			}
			if err != nil {
				return err
			}
			return st.publish(cmd, func(c store.Channel) (string, error) {
				if to != "" {
					return to, nil
				}
				if len(c.Previous) == 0 {
					return "", fmt.Errorf("channel %s has shown nothing before %s: name a snapshot by --to", f.channel, c.ID)
				}
				return c.Previous[0].ID, nil
			})
		},
	}
	f.register(cmd.Flags())
	sign.register(cmd.Flags())
	cmd.Flags().StringVar(&to, "to", "", "id of the snapshot; default: the one before the present one")
	return cmd
}

// publish moves the channel to the snapshot that choose picks, and tells what an edge is to purge.
func (s *openStore) publish(cmd *cobra.Command, choose func(store.Channel) (string, error)) error {
	ctx, out, messages := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	if s.remote == nil {
		release, err := s.lock("publish")
		if err != nil {
			return err
		}
		defer release()
	}
	before, err := s.history(ctx)
	if err != nil && !isAbsent(err) {
		return storeFault(err)
	}
	id, err := choose(before)
	if err == nil && id == before.ID {
		err = fmt.Errorf("channel %s shows %s already", s.channel, id)
	}
	if err != nil {
		return err
	}
	if s.remote == nil {
		// What is shown to everyone is looked at whole, not only at its directory.
		if err := s.Verify(id); err != nil {
			return storeFault(err)
		}
		err = s.Publish(s.channel, id, time.Now())
	} else {
		_, err = s.remote.Publish(ctx, s.channel, id, time.Now(), s.Store)
	}
	if err != nil {
		return storeFault(err)
	}
	said := fmt.Sprintf("channel %s: %s", s.channel, id)
	if before.ID != "" {
		said += ", before " + before.ID
	}
	if _, err := fmt.Fprintln(out, said); err != nil {
		return err
	}
	read := func(id string) (*store.Manifest, error) { return s.manifest(ctx, []string{id}, messages) }
	return printPurge(out, purgeKeys(before.ID, id, read, messages))
}

func (s *openStore) history(ctx context.Context) (store.Channel, error) {
	if s.remote == nil {
		return s.History(s.channel)
	}
	v, err := s.remote.Read(ctx, s.channel)
	return v.Channel, err
}
