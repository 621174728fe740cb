import { CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation';
import { ServiceError } from '../lib/foundation/errors.ts';
import { awsClientOptions } from '../lib/foundation/outgoing/aws-client.ts';
import { describeCredentialError } from './describe-aws-error.ts';

export type StackOutputs = Readonly<Record<string, string>>;

/** Outputs that the commands need, with the option that replaces each of them. */
const requiredOutputs = {
  TableName: '--table',
  MasterKeyId: '--master-key',
  WebhooksQueueUrl: '--webhooks-queue',
} as const;

/** Description of the stack, see infra/service-stack.ts. */
const descriptionPattern = /^Claimcheck\b/;

/**
 * Reads the outputs of a stack with the operator's AWS credentials. Throws `ResourceNotFound` for an unknown stack or a
 * stack of a different product, `Forbidden` without credentials or permission, and `ConnectionFailed` if CloudFormation
 * is unavailable.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 */
export async function readStackOutputs(stackName: string): Promise<StackOutputs> {
  const stack = await describeStack(stackName);
  if (stack) return toOutputs(stackName, stack);
  throw new ServiceError(
    'ResourceNotFound',
    `The stack ${stackName} is not found in ${await findRegion()}. Check --stack, --region and the account of --profile.`,
  );
}

/** Reads a stack. Undefined if it does not exist. Throws as `readStackOutputs` does. */
export async function describeStack(stackName: string): Promise<Stack | undefined> {
  const client = new CloudFormationClient(awsClientOptions);
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    return stack;
  } catch (error) {
    const { name = '', message = '' } = error instanceof Error ? error : {};
    if (name === 'ValidationError' && /does not exist/.test(message)) return undefined;
    throw toStackError(stackName, error);
  } finally {
    client.destroy();
  }
}

export const isClaimcheck = ({ Description: description = '' }: Stack): boolean => descriptionPattern.test(description);

function toOutputs(stackName: string, stack: Stack): StackOutputs {
  const outputs = Object.fromEntries(
    (stack.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
  );
  if (!isClaimcheck(stack) && !('TableName' in outputs && 'MasterKeyId' in outputs))
    throw new ServiceError('ResourceNotFound', `The stack ${stackName} is not a stack of Claimcheck. Check --stack.`);
  if (Object.keys(outputs).length === 0)
    throw new ServiceError(
      'ResourceNotFound',
      `The stack ${stackName} lacks outputs: its status is ${stack.StackStatus}. Deploy it first.`,
    );
  return outputs;
}

/**
 * Throws `ResourceNotFound` for an output that the stack lacks, because an earlier version was deployed, and that no
 * option replaces. `replacements` are the values of the options, by output.
 */
export function requireOutputs(
  stackName: string,
  outputs: StackOutputs,
  replacements: Readonly<Record<keyof typeof requiredOutputs, string | undefined>>,
): void {
  const isMissing = (output: keyof typeof requiredOutputs): boolean =>
    outputs[output] === undefined && replacements[output] === undefined;
  const missing = (Object.keys(requiredOutputs) as (keyof typeof requiredOutputs)[]).filter(isMissing);
  if (missing.length === 0) return;
  const options = missing.map((output) => requiredOutputs[output]);
  throw new ServiceError(
    'ResourceNotFound',
    `The stack ${stackName} lacks the output ${missing.join(', ')}: it was deployed by an earlier version. Deploy this version, or pass ${options.join(', ')}.`,
  );
}

export const findRegion = async (): Promise<string | undefined> =>
  await new CloudFormationClient(awsClientOptions).config.region().catch(() => undefined);

function toStackError(stackName: string, error: unknown): ServiceError {
  const { name = '' } = error instanceof Error ? error : {};
  const problem = describeCredentialError(error);
  if (problem !== undefined) return new ServiceError('Forbidden', problem, { cause: error });
  if (/AccessDenied/.test(name))
    return new ServiceError(
      'Forbidden',
      `The credentials may not read the stack ${stackName}. Attach the policy of its output OperatorPolicyArn.`,
      { cause: error },
    );
  return new ServiceError('ConnectionFailed', 'CloudFormation is unavailable. Try again later.', { cause: error });
}
