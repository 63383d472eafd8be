package upstream

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// fetchMore reads the packages that rows name. Without them the data is whole but its sources lack their description, so the last ones stand in.
func (s *syncing) fetchMore(ctx context.Context, last *rememberedListing) error {
	if !s.from.describes() {
		s.countPackages()
		return nil
	}
	datasets, err := s.datasets()
	if err != nil {
		return err
	}
	l, err := s.from.more(ctx, datasets)
	if err == nil {
		s.fetchAll(ctx, l)
	} else {
		s.summary.Notes = append(s.summary.Notes, "the source packages could not be read, the last ones are used: "+err.Error())
		if last != nil {
			for _, f := range last.Files {
				f.key = f.Role + ":" + f.ID + ":" + f.Path
				if e, ok := s.cache.find(f.key); ok && f.Role == "package" {
					f.State, f.Why = Stale, err.Error()
					f.take(e)
					s.touch(f.key)
					s.summary.Files = append(s.summary.Files, f)
				}
			}
		}
	}
	s.countPackages()
	return nil
}

func (s *syncing) countPackages() {
	for _, f := range s.summary.Files {
		if f.Role == "package" {
			s.summary.Packages++
		}
	}
}

// datasets are the source packages that the rows of all data files name. A file is read for them once.
func (s *syncing) datasets() ([]string, error) {
	all := map[string]bool{}
	for _, f := range s.summary.Files {
		if f.SHA256 == "" || isReference(f.Role) || f.Role == "package" || !strings.HasSuffix(f.Path, ".csv") {
			continue
		}
		e := s.cache.entries[f.key]
		if !e.Scanned || e.SHA256 != f.SHA256 {
			found, err := namedDatasets(s.cache.objectPath(f.SHA256))
			if err != nil {
				s.summary.Notes = append(s.summary.Notes, fmt.Sprintf("%s: not read for the packages its rows name: %v", f.Path, err))
				continue
			}
			e.Datasets, e.Scanned = found, true
			s.cache.entries[f.key] = e
		}
		for _, id := range e.Datasets {
			all[id] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// namedDatasets reads the distinct values of the column dataset_hdx_id.
func namedDatasets(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := csv.NewReader(bufio.NewReaderSize(file, 1<<20))
	reader.ReuseRecord, reader.LazyQuotes, reader.FieldsPerRecord = true, true, -1
	header, err := reader.Read()
	if err != nil {
		return nil, err
	}
	column := slices.IndexFunc(header, func(name string) bool { return strings.TrimPrefix(name, "\ufeff") == "dataset_hdx_id" })
	found := map[string]bool{}
	for column >= 0 {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if column < len(record) && packageID.MatchString(record[column]) && !found[record[column]] {
			found[strings.Clone(record[column])] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}
