"""Asks YARN, in its own protocol, by the client that Spark has.

    spark-submit --master=local[1] yarn_client.py find      {"hosts": [..]}: where the ResourceManagers are; one has answered
    spark-submit --master=local[1] yarn_client.py end TAG   {"applications": [{id, failed, reason}]}: those of the tag, ended

One line of JSON on standard output; {"problem": ".."} when YARN does not answer.
"""

import json
import sys

from py4j.protocol import Py4JJavaError
from pyspark.java_gateway import launch_gateway

#: How long the client goes on asking a ResourceManager that is away or says nothing: milliseconds and numbers of times.
LIMITS = {
    "yarn.resourcemanager.connect.max-wait.ms": 10_000,
    "yarn.resourcemanager.connect.retry-interval.ms": 2_000,
    "yarn.client.failover-max-attempts": 6,
    "ipc.client.connect.timeout": 5_000,
    "ipc.client.connect.max.retries": 0,
    "ipc.client.connect.max.retries.on.timeouts": 0,
    "ipc.client.rpc-timeout.ms": 15_000,
}
ADDRESS = "yarn.resourcemanager.address"
ENDED = {"FINISHED", "FAILED", "KILLED"}


def main(words):
    jvm = launch_gateway().jvm
    conf = jvm.org.apache.hadoop.yarn.conf.YarnConfiguration()
    for name, value in LIMITS.items():
        conf.set(name, str(value))
    addresses = resource_managers(conf)
    client = jvm.org.apache.hadoop.yarn.client.api.YarnClient.createYarnClient()
    client.init(conf)
    try:
        client.start()
        if words[0] == "find":
            client.getYarnClusterMetrics()
            return {"hosts": [address.rsplit(":", 1)[0] for address in addresses]}
        return {"applications": [ended(client, report) for report in of_tag(jvm, client, words[1])]}
    except Py4JJavaError as error:
        return {"problem": f"YARN's ResourceManager at {' or '.join(addresses)} does not answer: {cause(error)}"}


def resource_managers(conf):
    if not conf.getBoolean("yarn.resourcemanager.ha.enabled", False):
        return [conf.get(ADDRESS)]
    names = conf.getTrimmedStrings("yarn.resourcemanager.ha.rm-ids")
    return [conf.get(f"{ADDRESS}.{name}") or f"{conf.get(f'yarn.resourcemanager.hostname.{name}')}:8032" for name in names]


def of_tag(jvm, client, tag):
    tags = jvm.java.util.HashSet()
    tags.add(tag)
    return client.getApplications(None, None, tags)


def ended(client, report):
    number, state = report.getApplicationId(), report.getYarnApplicationState().toString()
    if state not in ENDED:
        client.killApplication(number)
    reason = " ".join((report.getDiagnostics() or "no reason is given").split())
    return {"id": number.toString(), "failed": state in {"FAILED", "KILLED"}, "reason": reason}


def cause(error):
    """The innermost reason, on one line."""
    reason = error.java_exception
    while reason.getCause() is not None:
        reason = reason.getCause()
    return " ".join(reason.toString().split())


print(json.dumps(main(sys.argv[1:])))
