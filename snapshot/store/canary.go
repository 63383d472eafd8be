package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// Canary restricts a channel to a part of the replicas of another channel, the main one, and to the
// time until that moves. A canary that nobody has ended thus ends with the next publication, and a
// replica that knows nothing of canaries follows the main channel.
type Canary struct {
	Percent int     `json:"percent"` // of replicas, by Bucket of their names
	Of      Pointer `json:"of"`      // what the main channel shows meanwhile
}

// canarySuffix follows the name of the main channel in that of a canary.
const canarySuffix = ".canary"

// CanaryOf is the name of the channel of a main channel's canary.
func CanaryOf(channel string) string { return channel + canarySuffix }

// Bucket is a number from 0 to 99 that depends on the name of a replica only. A replica follows the
// canaries for more per cent than its number.
func Bucket(replica string) int {
	sum := sha256.Sum256([]byte(replica))
	return int(binary.BigEndian.Uint64(sum[:8]) % 100)
}

// Concerns reports whether a replica follows a canary and not the main channel. One without a name
// never does.
func (c Channel) Concerns(replica string, main Channel) bool {
	return c.IsOf(main) && replica != "" && Bucket(replica) < c.Canary.Percent
}

// IsOf reports whether the channel is a canary of what the main channel shows.
func (c Channel) IsOf(main Channel) bool { return c.Canary != nil && c.Canary.Of.Same(main.Pointer) }

// StartCanary is the Next of the channel of a main channel's canary.
func StartCanary(main Channel, percent int, at time.Time) Next {
	return func(before Channel, p Pointer) Channel {
		p.PublishedAt = at
		next := main.Moved(p)
		if later := before.Moved(p); later.PublishedAt.After(next.PublishedAt) {
			next.PublishedAt = later.PublishedAt // of two canaries too, the later one is current
		}
		next.Canary = &Canary{Percent: percent, Of: main.Pointer}
		return next
	}
}

// EndCanary is the Next that moves a canary to what the main channel shows. Its replicas follow it
// there, so that their time of publication never goes back.
func EndCanary(at time.Time) Next {
	return func(before Channel, p Pointer) Channel {
		next := PublishAt(at)(before, p)
		next.Canary = before.Canary
		return next
	}
}

// ReplicasDir has the reports of replicas: a folder for each channel, a file for each name.
const ReplicasDir = "replicas"

// MaxReplicaReport is the size limit of the report of a replica.
const MaxReplicaReport = 16 << 10

// ReplicaName is the name in a store of the report of a replica.
func ReplicaName(channel, replica string) (string, error) {
	for _, name := range []string{channel, replica} {
		if err := CheckID(name); err != nil {
			return "", fmt.Errorf("name of a replica or its channel: %w", err)
		}
	}
	return ReplicasDir + "/" + channel + "/" + replica + jsonExt, nil
}
