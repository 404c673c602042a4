# Attacks of a worker on a Slurm node, inserted before the last line of `worker.py`. FACTS has `state`, the
# folder of the cluster's daemons, `conf`, its configuration, and of bob's job `job`, its id, `attempt`, its
# folder, and `account`.
STATE, ATTEMPT = Path(FACTS["state"]), Path(FACTS["attempt"])
JOB = FACTS["job"]

reading("the key of munge", STATE / "munge/key")
reading("the key of Slurm's tokens", STATE / "ctld/jwt.key")
reading("the password of the accounting", STATE / "dbd/slurmdbd.conf")
reading("the state of the controller", *(STATE / "ctld" / name for name in ("job_state", "assoc_usage", "node_state")))
reading("bob's job", *(ATTEMPT / name for name in ("job.sh", "job.json", "slurm.log", "places")))
reading("the secrets of bob's job", ATTEMPT / "secrets.json", ATTEMPT / "token")
reading("bob's script on its node", *(STATE / node / f"job{int(JOB):05}/slurm_script" for node in ("n1", "n2", "n3", "n4")))
listing("the folder of bob's attempt", ATTEMPT)
listing("the workspace of bob", ATTEMPT.parents[5])
writing("an order to bob's job", ATTEMPT / "stop")
writing("what Slurm is configured by", FACTS["conf"], STATE / "etc/gres.conf")


def asking_slurm(what, *words, says=None):
    """`says`: what refuses it although the command succeeds."""
    @attack(what)
    def _():
        environment = {"PATH": "/usr/bin:/bin", "SLURM_CONF": FACTS["conf"], "HOME": os.getcwd()}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
        said = (done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}").splitlines()[-1]
        if done.returncode == 0 and not (says and says in said):
            raise Broke(said)
        return said


asking_slurm("cancel bob's job", "scancel", JOB)
asking_slurm("end the workers of bob's job", "scancel", "--full", "--signal=KILL", JOB)
asking_slurm("make bob's job shorter", "scontrol", "update", f"jobid={JOB}", "timelimit=1")
asking_slurm("count bob's job for another account", "scontrol", "update", f"jobid={JOB}", "account=root")
asking_slurm("suspend bob's job", "scontrol", "suspend", JOB)
asking_slurm("begin bob's job again", "scontrol", "requeue", JOB)
asking_slurm("read the script of bob's job", "scontrol", "write", "batch_script", JOB, "-", says="job script retrieval failed")
asking_slurm("run a program in bob's job", "srun", f"--jobid={JOB}", "--overlap", "-n1", "id")
asking_slurm("attach to bob's job", "sattach", f"{JOB}.0", says="no tasks running")
asking_slurm("have a token of bob's account", "scontrol", "token", f"username={FACTS['account']}")
asking_slurm("submit as bob's account", "sbatch", f"--uid={FACTS['account']}", "--wrap=id")
asking_slurm("submit as root", "sbatch", "--uid=0", "--wrap=id")
asking_slurm("count a job for an account that is not hers", "sbatch", "--account=root", "--wrap=id")
asking_slurm("drain a node", "scontrol", "update", "nodename=n1", "state=drain", "reason=x")
asking_slurm("have the controller read another configuration", "scontrol", "reconfigure")
asking_slurm("administer the accounting", "sacctmgr", "-i", "modify", "user", "where", "name=root", "set", "adminlevel=None")
