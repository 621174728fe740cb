"""Deploys synthesized templates to moto, which simulates AWS in this process. Arguments: folders of `cdk synth`.

Fails unless moto creates each stack with every resource of the types that it supports. It ignores other types, which are
printed. See https://docs.getmoto.org/en/latest/docs/services/cf.html
"""

import collections
import io
import json
import os
import pathlib
import sys
import time
import zipfile

os.environ.update(AWS_ACCESS_KEY_ID="local", AWS_SECRET_ACCESS_KEY="local", AWS_DEFAULT_REGION="eu-west-1")

import boto3  # noqa: E402
from moto import mock_aws  # noqa: E402
from moto.cloudformation.parsing import get_model_map  # noqa: E402
from moto.core import DEFAULT_ACCOUNT_ID  # noqa: E402


# moto ignores the OpenAPI document of an API, and rejects a deployment of an API without methods.
INCOMPLETE_TYPES = {"AWS::ApiGateway::Deployment", "AWS::ApiGateway::Stage"}


def read_template(folder):
    [path] = pathlib.Path(folder).glob("*.template.json")
    return path.name.removesuffix(".template.json"), json.loads(path.read_text())


def upload_assets(template):
    """Uploads an empty archive for the code of each function: moto checks that the object exists."""
    bucket = f"cdk-hnb659fds-assets-{DEFAULT_ACCOUNT_ID}-eu-west-1"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("index.mjs", "")
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    functions = [r for r in template["Resources"].values() if r["Type"] == "AWS::Lambda::Function"]
    for key in {function["Properties"]["Code"]["S3Key"] for function in functions}:
        s3.put_object(Bucket=bucket, Key=key, Body=archive.getvalue())


def write_bootstrap_version(template):
    """Writes the parameter of `cdk bootstrap` that the template reads."""
    for parameter in template.get("Parameters", {}).values():
        if parameter["Type"].startswith("AWS::SSM::Parameter::Value"):
            boto3.client("ssm").put_parameter(Name=parameter["Default"], Value="99", Type="String")


def create_adopted_table(template):
    """Creates the table that the template adopts. Returns its description, or nothing if the template creates a table."""
    resources = template["Resources"].values()
    if any(resource["Type"] == "AWS::DynamoDB::Table" for resource in resources):
        return None
    functions = [resource for resource in resources if resource["Type"] == "AWS::Lambda::Function"]
    environments = [function["Properties"].get("Environment", {}).get("Variables", {}) for function in functions]
    names = {variables["TABLE_NAME"] for variables in environments if "TABLE_NAME" in variables}
    [name] = names
    keys = {"pk": "HASH", "sk": "RANGE"}
    return boto3.client("dynamodb").create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in keys.items()],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )["TableDescription"]


def omit_resources(template, omitted, table):
    """Removes resources that moto does not create, and replaces references to them by values of the same format."""

    def replace(value):
        if isinstance(value, list):
            return [replace(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        name, attribute = value.get("Fn::GetAtt") or [value.get("Ref"), None]
        if name not in omitted:
            return {key: replace(entry) for key, entry in value.items()}
        if omitted[name]["Type"].startswith("Custom::"):
            return table[attribute.removeprefix("Table.")]
        if omitted[name]["Type"] == "AWS::Lambda::Alias":
            return {"Fn::GetAtt": [omitted[name]["Properties"]["FunctionName"]["Ref"], "Arn"]}
        return f"arn:aws:omitted:eu-west-1:{DEFAULT_ACCOUNT_ID}:{name}"

    def replace_resource(resource):
        dependencies = [name for name in as_list(resource.get("DependsOn", [])) if name not in omitted]
        return {**replace(resource), "DependsOn": dependencies}

    resources = {name: replace_resource(r) for name, r in template["Resources"].items() if name not in omitted}
    return {**template, "Resources": resources, "Outputs": replace(template.get("Outputs", {}))}


def as_list(value):
    return value if isinstance(value, list) else [value]


def deploy(name, template):
    # A request can contain 51 KB of a template, so CloudFormation reads it from S3.
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket="templates", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    s3.put_object(Bucket="templates", Key="template.json", Body=json.dumps(template))
    cloudformation = boto3.client("cloudformation")
    cloudformation.create_stack(
        StackName=name,
        TemplateURL="https://templates.s3.eu-west-1.amazonaws.com/template.json",
        Capabilities=["CAPABILITY_IAM"],
    )
    [stack] = cloudformation.describe_stacks(StackName=name)["Stacks"]
    return stack, cloudformation.describe_stack_resources(StackName=name)["StackResources"]


def count_types(types):
    return dict(collections.Counter(types))


def check(folder):
    """Deploys the template of the folder. Returns a description of the failure, if any."""
    name, template = read_template(folder)
    declared = count_types(resource["Type"] for resource in template["Resources"].values())
    unsupported = sorted(kind for kind in declared if kind in INCOMPLETE_TYPES or kind not in get_model_map())
    omitted = {name: r for name, r in template["Resources"].items() if r["Type"] in unsupported}
    started = time.monotonic()
    with mock_aws(config={"lambda": {"use_docker": False}}):
        upload_assets(template)
        write_bootstrap_version(template)
        table = create_adopted_table(template)
        stack, resources = deploy(name, omit_resources(template, omitted, table))
    created = count_types(resource["ResourceType"] for resource in resources)
    expected = {kind: count for kind, count in declared.items() if kind not in unsupported}
    checked = {kind: count for kind, count in created.items() if kind in expected}
    if stack["StackStatus"] != "CREATE_COMPLETE" or checked != expected:
        return f"{name}: {stack['StackStatus']} {stack.get('StackStatusReason', '')} created {checked}, expected {expected}"
    seconds = round(time.monotonic() - started)
    print(f"{name}: moto created {sum(checked.values())} of {sum(declared.values())} resources in {seconds} s.")
    print(f"{name}: not checked by moto: {', '.join(unsupported) or 'none'}.")
    return None


failures = [failure for failure in map(check, sys.argv[1:]) if failure]
if failures:
    sys.exit("\n".join(failures))
