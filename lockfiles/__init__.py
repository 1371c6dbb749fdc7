"""RECORDS: lock values and the formats they are written in. Pure: no disk, network, process or clock."""

from lockfiles.lock import Artifact, Edge, InvalidLock, Lock, Owner, Pin, environment_marker

__all__ = ["Artifact", "Edge", "InvalidLock", "Lock", "Owner", "Pin", "environment_marker"]
