package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"hdqs/api/figures"
	"hdqs/bulk"
	"hdqs/bulk/iceberg"
	"hdqs/internal/objects"
	"hdqs/snapshot/store"
)

func newVerify() *cobra.Command {
	var (
		f      storeFlags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "verify --store SRC [ID]",
		Short: "Checks all of a snapshot: digests, checksums, postings against rows, columns against endpoints",
		Long: `Checks all of a snapshot: the digest of every file, every checksum, that each posting agrees with
the rows, that every endpoint finds its columns, the digests of bulk files ('hdqs build --bulk'), and
that the Iceberg tables are whole and have these files.
With --require-signature the manifests must be signed. All files of a remote store are downloaded
again, to a temporary directory, but for bulk files. The exit code is 4 if anything is wrong.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, fault, err := f.verify(cmd.Context(), args, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case asJSON:
				result := struct {
					ID    string `json:"id"`
					OK    bool   `json:"ok"`
					Fault string `json:"fault,omitempty"`
				}{ID: id, OK: fault == nil}
				if fault != nil {
					result.Fault = fault.Error()
				}
				if err := json.NewEncoder(out).Encode(result); err != nil {
					return err
				}
			case fault == nil:
				fmt.Fprintf(out, "snapshot %s: everything agrees\n", id)
			}
			if fault != nil {
				return &exitError{code: exitVerification, err: fault, quiet: asJSON}
			}
			return nil
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// verify finds a snapshot and returns what is wrong with it as fault. err is any other failure.
func (f *storeFlags) verify(ctx context.Context, args []string, messages io.Writer) (id string, fault, err error) {
	if objects.IsRemote(f.store) {
		fresh, remove, err := temporaryDir("verify")
		if err != nil {
			return "", nil, err
		}
		defer remove()
		f.dataDir = fresh
	}
	st, err := f.openExisting()
	if err != nil {
		return "", nil, err
	}
	id, _, err = st.find(ctx, args, messages)
	switch code := new(exitError); {
	case errors.As(err, &code) && code.code == exitVerification:
		return id, err, nil
	case err != nil:
		return id, nil, err
	}
	if _, err := st.Store.Snapshots.Manifest(id); errors.Is(err, fs.ErrNotExist) {
		return id, nil, err // a wrong id, not a damaged snapshot
	}
	if fault = st.Store.Verify(id); fault == nil {
		var bound *figures.Offline
		if bound, fault = opener(st.Store.Snapshots.OpenAfter).bound(id); fault == nil {
			bound.Close()
		}
	}
	return id, errors.Join(fault, verifyBulk(st.Store, id)), nil
}

// verifyBulk checks the bulk files of a snapshot that has some, and the Iceberg tables over them.
func verifyBulk(st *store.Store, id string) error {
	files := bulk.Open(st)
	of, err := st.Snapshots.Manifest(id)
	if err != nil {
		return nil // the caller reports this fault
	}
	err = files.Verify(of)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	m, readErr := files.Manifest(id)
	ids, listErr := files.Snapshots()
	if readErr != nil || listErr != nil {
		return errors.Join(err, listErr)
	}
	return errors.Join(err, iceberg.Verify(st.Dir(), m, ids[len(ids)-1] == id))
}
