"""What a step does whose gradient is not finite. Imports no framework."""

STOP = "stop"
SKIP = "skip"
ON_NON_FINITE = (STOP, SKIP)
