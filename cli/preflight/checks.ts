import { CloudFormationClient, DescribeStackResourcesCommand, type Stack } from '@aws-sdk/client-cloudformation';
import { awsClientOptions } from '../../lib/foundation/outgoing/aws-client.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';
import { describeStack, isClaimcheck } from '../stack-outputs.ts';

/** Version of the bootstrap stack that the synthesizer of the CDK requires. */
export const minBootstrapVersion = 6;

/** Finds a stack with the name of the deployment that is not Claimcheck's, or that CloudFormation cannot update. */
export function checkStack(name: string, stack: Stack | undefined): readonly Finding[] {
  if (!stack) return [];
  if (!isClaimcheck(stack))
    return [
      createFinding('stack-name-taken', {
        problem: `The stack ${name} exists and is not a stack of Claimcheck.`,
        cure: 'Choose another `stage`, or deploy to another region or account.',
      }),
    ];
  const { StackStatus: status = '' } = stack;
  if (!/_FAILED$/.test(status)) return [];
  return [
    createFinding('stack-failed', {
      problem: `The stack ${name} has the status ${status}, in which it cannot be updated.`,
      cure: 'Read its events in CloudFormation. Continue the rollback of an update, or delete a stack that was never used.',
    }),
  ];
}

/** @see https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html */
export async function checkBootstrap(): Promise<readonly Finding[]> {
  const stack = await describeStack('CDKToolkit');
  const version = Number(stack?.Outputs?.find(({ OutputKey: key }) => key === 'BootstrapVersion')?.OutputValue ?? 0);
  if (version >= minBootstrapVersion) return [];
  return [
    createFinding('bootstrap-missing', {
      problem: stack
        ? `The bootstrap stack has the version ${version}, and the deployment needs ${minBootstrapVersion}.`
        : 'The CDK has no bootstrap stack in this account and region.',
      cure: 'Run `npx cdk bootstrap`.',
    }),
  ];
}

/**
 * Finds another stack of the account and region that has the custom domain name: API Gateway accepts a name once.
 * Names that no stack has created are not found.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackResources.html
 */
export async function checkDomainName(domainName: string | undefined, stackName: string): Promise<readonly Finding[]> {
  const owner = domainName === undefined ? undefined : await findOwner(domainName);
  if (owner === undefined || owner === stackName) return [];
  return [
    createFinding('domain-name-taken', {
      problem: `The custom domain name ${domainName} belongs to the stack ${owner}.`,
      cure: `Choose another \`domainName\`, or deploy ${owner} without it first.`,
    }),
  ];
}

async function findOwner(domainName: string): Promise<string | undefined> {
  const client = new CloudFormationClient(awsClientOptions);
  try {
    const { StackResources = [] } = await client.send(
      new DescribeStackResourcesCommand({ PhysicalResourceId: domainName }),
    );
    return StackResources.find(({ PhysicalResourceId: id }) => id === domainName)?.StackName;
  } catch (error) {
    if (error instanceof Error && error.name === 'ValidationError' && /does not exist/.test(error.message))
      return undefined;
    throw error;
  } finally {
    client.destroy();
  }
}
