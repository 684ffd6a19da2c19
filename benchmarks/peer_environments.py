"""Virtual environments of the peers of `latency.py --peers`: see benchmarks/harness/peer_environments.py.

python benchmarks/peer_environments.py NAME ... [--environments DIR] [--python python3.11]
"""

from harness.peer_environments import main

if __name__ == "__main__":
    main()
