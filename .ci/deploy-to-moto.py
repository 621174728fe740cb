"""Deploys synthesized templates to moto, which simulates AWS in this process. Arguments: folders of `cdk synth`.

Fails unless moto creates each stack and nested stack with every resource of the types that it supports. It ignores other types, which are
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
from moto.cloudformation.models import Stack  # noqa: E402
from moto.cloudformation.parsing import get_model_map  # noqa: E402
from moto.core import DEFAULT_ACCOUNT_ID  # noqa: E402


# moto ignores the OpenAPI document of an API, and rejects a deployment of an API without methods. The reference to a version
# is not its ARN.
INCOMPLETE_TYPES = {"AWS::ApiGateway::Deployment", "AWS::ApiGateway::Stage", "AWS::Lambda::Version"}


STACK_TYPE = "AWS::CloudFormation::Stack"


def read_templates(folder):
    """Reads the name of the stack, its template, and the templates of its nested stacks by the object key of their URL."""
    [manifest] = pathlib.Path(folder).glob("*.assets.json")
    name = manifest.name.removesuffix(".assets.json")
    files = json.loads(manifest.read_text())["files"]
    paths = {f"{key}.json": file["source"]["path"] for key, file in files.items()}
    nested = {key: path for key, path in paths.items() if path.endswith(".nested.template.json")}
    read = lambda path: json.loads(pathlib.Path(folder, path).read_text())  # noqa: E731
    return name, read(f"{name}.template.json"), {key: read(path) for key, path in nested.items()}


def get_stack_output(stack, attribute):
    """Returns an output of a nested stack. moto creates nested stacks, but does not resolve their outputs."""
    key = attribute.removeprefix("Outputs.")
    [value] = [output["OutputValue"] for output in stack.outputs or [] if output["OutputKey"] == key]
    return value


Stack.get_cfn_attribute = get_stack_output


def upload_assets(templates, nested):
    """Uploads the templates of nested stacks, and an empty archive for the code of each function: moto reads the former
    and checks that the latter exists."""
    bucket = f"cdk-hnb659fds-assets-{DEFAULT_ACCOUNT_ID}-eu-west-1"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("index.mjs", "")
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    functions = [r for r in list_resources(templates) if r["Type"] == "AWS::Lambda::Function"]
    for key in {function["Properties"]["Code"]["S3Key"] for function in functions}:
        s3.put_object(Bucket=bucket, Key=key, Body=archive.getvalue())
    for key, template in nested.items():
        s3.put_object(Bucket=bucket, Key=key, Body=json.dumps(template))


def list_resources(templates):
    return [resource for template in templates for resource in template["Resources"].values()]


def write_bootstrap_version(template):
    """Writes the parameter of `cdk bootstrap` that the template reads."""
    for parameter in template.get("Parameters", {}).values():
        if parameter["Type"].startswith("AWS::SSM::Parameter::Value"):
            boto3.client("ssm").put_parameter(Name=parameter["Default"], Value="99", Type="String")


def create_adopted_table(templates):
    """Creates the table that the templates adopt. Returns its description, or nothing if they create a table."""
    resources = list_resources(templates)
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


def omit_resources(template, unsupported, table):
    """Removes resources that moto does not create, and replaces references to them by values of the same format."""
    omitted = {name: r for name, r in template["Resources"].items() if r["Type"] in unsupported}

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
        if omitted[name]["Type"] == "AWS::Lambda::Version":
            arn = {"Fn::GetAtt": [omitted[name]["Properties"]["FunctionName"]["Ref"], "Arn"]}
            return {"Fn::Join": [":", [arn, "1"]]}
        if omitted[name]["Type"] == "AWS::Lambda::Alias":
            function_name = replace(omitted[name]["Properties"]["FunctionName"])
            return {"Fn::Join": [":", ["arn:aws:lambda:eu-west-1", DEFAULT_ACCOUNT_ID, "function", function_name]]}
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
    stacks = cloudformation.describe_stacks()["Stacks"]
    resources = [cloudformation.describe_stack_resources(StackName=stack["StackName"]) for stack in stacks]
    return stacks, [resource for response in resources for resource in response["StackResources"]]


def find_missing_tables():
    """Returns the table names in the environments of functions that are no tables: nested stacks get them as parameters."""
    tables = set(boto3.client("dynamodb").list_tables()["TableNames"])
    pages = boto3.client("lambda").get_paginator("list_functions").paginate()
    functions = [function for page in pages for function in page["Functions"]]
    environments = [function.get("Environment", {}).get("Variables", {}) for function in functions]
    names = {variables["TABLE_NAME"] for variables in environments if "TABLE_NAME" in variables}
    return names - tables if names else {"no function has a table"}


def count_types(types):
    return dict(collections.Counter(types))


def check(folder):
    """Deploys the templates of the folder. Returns a description of the failure, if any."""
    name, root, nested = read_templates(folder)
    templates = [root, *nested.values()]
    declared = count_types(resource["Type"] for resource in list_resources(templates))
    unsupported = sorted(kind for kind in declared if kind in INCOMPLETE_TYPES or kind not in get_model_map())
    started = time.monotonic()
    with mock_aws(config={"lambda": {"use_docker": False}}):
        table = create_adopted_table(templates)
        supported = {key: omit_resources(template, unsupported, table) for key, template in nested.items()}
        upload_assets(templates, supported)
        write_bootstrap_version(root)
        stacks, resources = deploy(name, omit_resources(root, unsupported, table))
        missing = find_missing_tables()
    created = count_types(resource["ResourceType"] for resource in resources)
    expected = {kind: count for kind, count in declared.items() if kind not in unsupported}
    checked = {kind: count for kind, count in created.items() if kind in expected}
    statuses = count_types(stack["StackStatus"] for stack in stacks)
    if statuses != {"CREATE_COMPLETE": len(templates)} or checked != expected:
        return f"{name}: {statuses} for {len(templates)} stacks, created {checked}, expected {expected}"
    if missing:
        return f"{name}: the functions have table names that do not exist: {missing}"
    seconds = round(time.monotonic() - started)
    print(f"{name}: moto created {len(stacks)} stacks with {sum(checked.values())} of {sum(declared.values())} resources in {seconds} s.")
    print(f"{name}: not checked by moto: {', '.join(unsupported) or 'none'}.")
    return None


failures = [failure for failure in map(check, sys.argv[1:]) if failure]
if failures:
    sys.exit("\n".join(failures))
