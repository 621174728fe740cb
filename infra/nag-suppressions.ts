import { type Stack, Validations } from 'aws-cdk-lib';

/** Accepted findings of cdk-nag's AWS Solutions rules, with the reason for each. */
const suppressions: Readonly<Record<string, string>> = {
  'AwsSolutions-APIG2':
    'Each function validates its request with its contract. A model in API Gateway would reject lenient bodies of released clients.',
  'AwsSolutions-APIG3': 'A web ACL has a fixed monthly price. The option `waf` adds one.',
  'AwsSolutions-APIG6':
    'Execution logs would contain headers and bodies with keys and receipts. Access logs are enabled, and functions are traced.',
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
    'API Gateway requires this policy for access logs.',
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]':
    'The function of CDK that reads the stream of an adopted table writes its log with it.',
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]':
    'AWS Backup documents this policy for its backup role.',
  'AwsSolutions-IAM5[Resource::*]':
    'X-Ray does not support resource-level permissions for PutTraceSegments and PutTelemetryRecords.',
  'AwsSolutions-SQS3':
    'The queue for failed stream records is a dead-letter queue itself. All other queues have one, which a test checks.',
  'AwsSolutions-SMG4':
    'Old master keys must decrypt until the operator has re-encrypted all values; see docs/operating.md.',
};

/** Acknowledges the accepted findings. Other findings fail the check. */
export function suppressNagFindings(stack: Stack): void {
  const acknowledged = Object.entries(suppressions).map(([id, reason]) => ({ id: `AwsSolutions::${id}`, reason }));
  Validations.of(stack).acknowledge(...acknowledged);
}
