"""Checks compose files and Kubernetes manifests against their own schemas and against Lockstep.

    check_manifests.py compose FILE
    check_manifests.py kubernetes VERSION FILE...

Prints one line for each finding, and nothing when all is well. Run by the Python that
`deploy/install tests` made; the names of known settings come from standard input, one a line.
"""

import json
import pathlib
import sys
import warnings

import jsonschema
import yaml

# What a process may take to end after SIGTERM: the grace and the last wait, both in seconds.
GRACE, LAST_WAIT = 20, 5
# Which Android apps the API lets register.
PACKAGES = "LOCKSTEP_FCM_PACKAGES"
KNOWN = set(sys.stdin.read().split())


def unknown(names, where):
    return [f"{where}: sets {name}, which nothing reads" for name in names if name not in KNOWN]


def flags(words, where):
    names = ["LOCKSTEP_" + word[2:].split("=")[0].upper().replace("-", "_")
             for word in words if word.startswith("--") and word != "--passwords-file"]
    return unknown(names, where)


def compose(path):
    import importlib.util

    spec = importlib.util.find_spec("compose")
    schema = json.loads(
        (pathlib.Path(spec.submodule_search_locations[0]) / "config/compose_spec.json").read_text())
    # Newer than that copy of the schema.
    schema["properties"]["name"] = {"type": "string"}
    found = yaml.safe_load(path.read_text())
    findings = [f"{'.'.join(map(str, e.absolute_path))}: {e.message}"
                for e in jsonschema.Draft7Validator(schema).iter_errors(found)]
    services = found["services"]
    for name, service in services.items():
        findings += flags(service.get("command", []), name)
        findings += unknown(service.get("environment", {}), name)
        for other, wish in service.get("depends_on", {}).items():
            if other not in services:
                findings.append(f"{name}: waits for {other}, which is no service")
            elif wish["condition"] == "service_healthy" and "test" not in services[other].get(
                    "healthcheck", {}):
                findings.append(f"{name}: waits for {other}, which has no health check")
        for secret in service.get("secrets", []):
            if secret not in found["secrets"]:
                findings.append(f"{name}: wants the secret {secret}, which is not made")
        for volume in service.get("volumes", []):
            if volume.split(":")[0] not in found["volumes"]:
                findings.append(f"{name}: wants the volume {volume}, which is not made")
        for port in service.get("ports", []):
            if not port.startswith("127.0.0.1:"):
                findings.append(f"{name}: listens outside of loopback: {port}")
        if name == "rabbitmq":
            continue
        if int(service["stop_grace_period"].rstrip("s")) < GRACE + LAST_WAIT + 5:
            findings.append(f"{name}: is killed before it has drained")
        if name == "fcm-sender" and PACKAGES not in services["api"].get("environment", {}):
            findings.append(f"{name}: has nobody to send to, the api has no {PACKAGES}")
        if not service["read_only"] or service["cap_drop"] != ["ALL"]:
            findings.append(f"{name}: has more rights than it needs")
    return findings


def kubernetes(version, paths):
    import kubernetes_validate

    # It warns that it has no newer schema; the version is our choice.
    warnings.simplefilter("ignore")
    findings, objects = [], []
    for path in paths:
        for item in yaml.safe_load_all(path.read_text()):
            where = f"{path.name} {item['kind']}/{item['metadata'].get('name')}"
            try:
                kubernetes_validate.validate(item, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                findings.append(f"{where}: {'.'.join(map(str, error.path))}: {error.message}")
            objects.append((where, item))
    names = {(item["kind"], item["metadata"]["name"]) for _, item in objects}
    secrets = {item["metadata"]["name"]: set(item["stringData"])
               for _, item in objects if item["kind"] == "Secret"}
    deployments = {item["metadata"]["name"] for _, item in objects if item["kind"] == "Deployment"}
    if "fcm-sender" in deployments and not any(
            PACKAGES in item.get("data", {}) for _, item in objects if item["kind"] == "ConfigMap"):
        findings.append(f"fcm-sender: has nobody to send to, the api has no {PACKAGES}")
    for where, item in objects:
        if item["kind"] in ("ConfigMap", "Secret") and item["metadata"]["name"] != "lockstep-keys":
            findings += unknown(item.get("data", item.get("stringData")), where)
        if item["kind"] in ("Deployment", "Job"):
            findings += pod(item["spec"]["template"], where, names, secrets, item["kind"])
    return findings


def pod(template, where, names, secrets, kind):
    findings, spec = [], template["spec"]
    for volume in spec.get("volumes", []):
        if "secret" in volume:
            wanted = {entry["key"] for entry in volume["secret"]["items"]}
            missing = wanted - secrets.get(volume["secret"]["secretName"], set())
            findings += [f"{where}: wants {key} of a secret, which is not made" for key in missing]
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        if claim and ("PersistentVolumeClaim", claim) not in names:
            findings.append(f"{where}: wants the claim {claim}, which is not made")
    for container in spec["containers"]:
        findings += unknown([entry["name"] for entry in container.get("env", [])], where)
        for source in container["envFrom"]:
            for key, named in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
                if key in source and (named, source[key]["name"]) not in names:
                    findings.append(f"{where}: reads {source[key]['name']}, which is not made")
        safe = container["securityContext"]
        if safe["allowPrivilegeEscalation"] or safe["capabilities"] != {"drop": ["ALL"]}:
            findings.append(f"{where}: has more rights than it needs")
        if kind != "Deployment":
            continue
        if container["args"][0] != template["metadata"]["labels"]["app.kubernetes.io/component"]:
            findings.append(f"{where}: runs {container['args'][0]}")
        for probe, path in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
            if container[probe]["httpGet"] != {"path": path, "port": "admin"}:
                findings.append(f"{where}: its {probe} does not ask {path}")
        stop = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", [])
        before = int(stop[1]) if stop else 0
        if spec["terminationGracePeriodSeconds"] < before + GRACE + LAST_WAIT + 5:
            findings.append(f"{where}: is killed before it has drained")
    return findings


if __name__ == "__main__":
    if sys.argv[1] == "compose":
        found = compose(pathlib.Path(sys.argv[2]))
    else:
        found = kubernetes(sys.argv[2], [pathlib.Path(path) for path in sys.argv[3:]])
    print("\n".join(found), end="")
