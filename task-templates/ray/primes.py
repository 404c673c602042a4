"""Counts the primes below a million: a task of Ray for each part of the numbers, wherever there is room."""

import cubeloom
import ray

ray.init()
PARTS, SIZE = 20, 50_000


@ray.remote(scheduling_strategy="SPREAD")
def count(start):
    """The primes from `start` on, and the node that counted them."""
    def is_prime(number):
        return number > 1 and all(number % factor for factor in range(2, int(number**0.5) + 1))

    return sum(map(is_prime, range(start, start + SIZE))), ray.util.get_node_ip_address()


waiting = [count.remote(part * SIZE) for part in range(PARTS)]
total, places = 0, set()
while waiting:
    [done], waiting = ray.wait(waiting)
    primes, place = ray.get(done)
    total += primes
    places.add(place)
    cubeloom.progress(PARTS - len(waiting), PARTS)
cubeloom.outputs(primes=total, places=len(places))
