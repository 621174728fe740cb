import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { CodeStack } from './code-stack.ts';
import type { ServiceFunction } from './service-function.ts';

/** A function of the API with the role that API Gateway invokes it with. */
export interface ApiFunction {
  readonly serviceFunction: ServiceFunction;
  readonly invocationRoleArn: string;
}

/**
 * A nested stack with functions of the API, and the role with which API Gateway invokes them. A permission of each
 * function instead would be a resource each, and the policies of one role for all functions can have 10,240 characters.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
 */
export class ApiFunctions extends CodeStack {
  /** Functions by the id of their contract or route. */
  readonly functions: ReadonlyMap<string, ApiFunction>;

  constructor(scope: Construct, id: string, content: string, create: (stack: Construct) => readonly ServiceFunction[]) {
    super(scope, id, content);
    const functions = create(this);
    const statement = new PolicyStatement({
      actions: ['lambda:InvokeFunction'],
      resources: functions.map(({ invokedArn }) => invokedArn),
    });
    const { roleArn: invocationRoleArn } = new Role(this, 'InvocationRole', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      inlinePolicies: { Permissions: new PolicyDocument({ statements: [statement] }) },
    });
    this.functions = new Map(
      functions.map((serviceFunction) => [serviceFunction.id, { serviceFunction, invocationRoleArn }]),
    );
  }
}
