// Package memory finds how much memory the process may use, and reads and prints amounts of it.
//
// The limit is that of the control groups of the process (cgroups, version 1 and 2): of its own
// group and of all groups around it, the smallest one counts. Where the files of a group are is
// worked out from /proc/self/cgroup, which has the path of the group, and /proc/self/mountinfo,
// which has the place where the hierarchy is mounted and the part of it that is mounted there. In a
// container that part is usually the container's own group.
package memory
