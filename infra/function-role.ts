import {
  type AddToPrincipalPolicyResult,
  PolicyDocument,
  type PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

/**
 * The role of a function. Its permissions are an inline policy and not their own resource: a stack can have 500
 * resources.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
 */
export class FunctionRole extends Role {
  /** The inline policy. */
  readonly document: PolicyDocument;

  constructor(scope: Construct, id: string) {
    const document = new PolicyDocument();
    super(scope, id, {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Permissions: document },
    });
    this.document = document;
  }

  /**
   * Adds a statement to the inline policy. The constructs of CDK call this method for each permission that they grant.
   */
  override addToPrincipalPolicy(statement: PolicyStatement): AddToPrincipalPolicyResult {
    this.document.addStatements(statement);
    return { statementAdded: true, policyDependable: this };
  }
}
