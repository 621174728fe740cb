import { type Stack, Validations } from 'aws-cdk-lib';

/** Findings of cdk-nag's AWS Solutions rules that are decisions, each with its reason. */
const suppressions: Readonly<Record<string, string>> = {
  'AwsSolutions-APIG2':
    'Every function parses its request against its contract; a model at the gateway would refuse the tolerated bodies of old clients.',
  'AwsSolutions-APIG3': 'A web ACL costs a fixed price a month; docs/operating.md says how to add one.',
  'AwsSolutions-APIG6':
    'Execution logs would hold headers and bodies, which carry keys and receipts. Access logs and traces are on.',
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
    'The policy that API Gateway prescribes for writing access logs.',
  'AwsSolutions-IAM5[Resource::*]':
    'X-Ray has no resources to name: PutTraceSegments and PutTelemetryRecords take only a wildcard.',
  'AwsSolutions-SQS3':
    'The place for failed records of the stream is itself where the dead go; every other queue has one, which a test checks.',
  'AwsSolutions-SMG4':
    'What old master keys encrypted is opened until it has been encrypted anew, which an operator decides; docs/operating.md says how.',
};

/** Acknowledges the findings that are decisions, so that any other one fails the check. */
export function suppressNagFindings(stack: Stack): void {
  const acknowledged = Object.entries(suppressions).map(([id, reason]) => ({ id: `AwsSolutions::${id}`, reason }));
  Validations.of(stack).acknowledge(...acknowledged);
}
