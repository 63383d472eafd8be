package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"hdqs/api"
)

func newVerify() *cobra.Command {
	var (
		f      storeFlags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "verify --store DIR [ID]",
		Short: "Checks a snapshot whole: digests, checksums, postings against rows, columns against endpoints",
		Long: `Checks a snapshot whole: the digest of every file, every checksum, that each posting agrees with the rows it was made from, and
that every endpoint finds its columns. Exit code 4 when anything is wrong.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, id, _, err := f.find(args)
			if err != nil {
				return err
			}
			fault := store.Verify(id)
			if fault == nil {
				fault = bindAll(&f, id)
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
	f.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// bindAll joins the endpoints to the snapshot, as a server would before it serves it.
func bindAll(f *storeFlags, id string) error {
	store, _, _, err := f.find([]string{id})
	if err != nil {
		return err
	}
	snap, err := store.Open(id)
	if err != nil {
		return err
	}
	defer snap.Close()
	_, err = api.Bind(snap)
	return err
}
