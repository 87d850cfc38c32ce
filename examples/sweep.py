"""A sweep over 1,000 settings; `python examples/sweep.py --help` lists its options."""

import argparse
import hashlib
import resource
import time

from plausibly import sweep

SPEC = {
    "name": "greed",
    "environment": {"kind": "linear", "dim": 5, "actions": 50, "noise": 0.5},
    "policy": [{"kind": "code", "label": "CODE"}, {"kind": "lin-ucb", "label": "LinUCB"}],
}
GRID = {
    "environment.dim": range(2, 12),
    "environment.noise": [step / 10 for step in range(1, 11)],
    "policy[1].greed": [step / 10 for step in range(10)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--horizon", type=int, default=1000)
    parser.add_argument("--engine", default="threads", choices=["threads", "processes", "ray"])
    parser.add_argument("--workers", type=int)
    parser.add_argument("--task-runs", type=int)
    parser.add_argument("--out", help="folder of an earlier run to resume")
    args = parser.parse_args()
    begun = time.perf_counter()
    result = sweep(
        {**SPEC, "runs": args.runs, "horizon": args.horizon},
        GRID,
        engine=args.engine,
        workers=args.workers,
        task_runs=args.task_runs,
        out=args.out,
    )
    seconds = time.perf_counter() - begun
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(one.ru_utime + one.ru_stime for one in used)
    table = hashlib.sha256(result.csv.encode()).hexdigest()[:16]
    print(
        f"{len(result)} settings on {args.engine}: {seconds:.1f} s, {cpu:.1f} s of processor, "
        f"table {table}, {used[0].ru_maxrss // 1024} MB"
    )


if __name__ == "__main__":
    main()
