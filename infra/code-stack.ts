import { type CfnResource, NestedStack, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/**
 * A nested stack of resources without data, which a deployment can replace. Its logical id is its construct id, because
 * it is a part of the physical names of its resources. All code stacks of a deployment are created by its one `cdk
 * deploy`.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-nested-stacks.html
 */
export class CodeStack extends NestedStack {
  constructor(scope: Construct, id: string, content: string) {
    super(scope, id, { description: `Part of ${getServiceName(scope)}: ${content}` });
    (this.nestedStackResource as CfnResource).overrideLogicalId(id);
  }
}

/** Returns the namespace of the metrics that CloudWatch reads from the logs of the stack. */
export const getMetricNamespace = (construct: Construct): string => `Claimcheck/${getServiceName(construct)}`;

/**
 * Returns the name of the deployed stack. A nested stack has its own name, which exists only after the deployment.
 */
export function getServiceName(construct: Construct): string {
  const stack = Stack.of(construct);
  return (stack.nestedStackParent ?? stack).stackName;
}
