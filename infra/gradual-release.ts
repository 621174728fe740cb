import { Fn } from 'aws-cdk-lib';
import { CfnDeploymentGroup, LambdaApplication } from 'aws-cdk-lib/aws-codedeploy';
import { type IRole, ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnAlias } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { acknowledgeFinding } from './acknowledgements.ts';
import type { Alarms } from './alarms.ts';
import { CodeStack } from './code-stack.ts';
import type { DeploymentOptions } from './deployment-options.ts';
import type { InvocationTarget } from './invocation-target.ts';
import { aliasName, type ServiceFunction } from './service-function.ts';

interface GradualReleaseProps {
  readonly trafficShift: NonNullable<DeploymentOptions['canary']>;
  /** Functions with a version. */
  readonly functions: Iterable<ServiceFunction>;
  readonly alarms: Alarms;
}

/**
 * Number of deployment groups that CloudFormation creates at a time. CodeDeploy rejects more with "Rate exceeded", and
 * the whole deployment fails.
 * @see https://github.com/aws/aws-cdk/issues/21516
 */
const groupConcurrency = 5;

/**
 * A nested stack with the alias of each function, whose traffic CodeDeploy shifts to a new version. If an alarm of a
 * function starts during the shift, its deployment fails and CloudFormation rolls the whole deployment back. Each alias
 * has a deployment group, because a group runs one deployment at a time and CloudFormation updates all aliases
 * concurrently. The aliases are not in the stacks of their functions: an alias needs its group, a group its alarms, and
 * an alarm the names of functions.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-updatepolicy.html
 * @see https://docs.aws.amazon.com/codedeploy/latest/userguide/limits.html
 */
export class GradualRelease extends CodeStack {
  private readonly targets: ReadonlyMap<string, InvocationTarget>;

  constructor(scope: Construct, id: string, { trafficShift, functions, alarms }: GradualReleaseProps) {
    super(scope, id, 'gradual release of new versions');
    const application = new LambdaApplication(this, 'Application');
    const role = this.createRole();
    const groups: CfnDeploymentGroup[] = [];
    const targets = new Map<string, InvocationTarget>();
    for (const serviceFunction of functions) {
      const group = new CfnDeploymentGroup(this, serviceFunction.id, {
        applicationName: application.applicationName,
        serviceRoleArn: role.roleArn,
        deploymentConfigName: `CodeDeployDefault.Lambda${trafficShift}`,
        deploymentStyle: { deploymentType: 'BLUE_GREEN', deploymentOption: 'WITH_TRAFFIC_CONTROL' },
        alarmConfiguration: {
          // CodeDeploy starts no deployment while an alarm is on, so an immediate shift is the way out of a bad
          // release.
          enabled: trafficShift !== 'AllAtOnce',
          alarms: alarms.listByFunction(serviceFunction.id).map(({ alarmName }) => ({ name: alarmName })),
        },
        autoRollbackConfiguration: { enabled: true, events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'] },
      });
      const predecessor = groups.at(-groupConcurrency);
      if (groups.length >= groupConcurrency && predecessor) group.addResourceDependency(predecessor);
      groups.push(group);
      targets.set(serviceFunction.id, this.createAlias(serviceFunction, application, group));
    }
    this.targets = targets;
  }

  getTarget(functionId: string): InvocationTarget {
    const target = this.targets.get(functionId);
    if (!target) throw new Error(`The function ${functionId} has no alias.`);
    return target;
  }

  private createAlias(
    { id, version }: ServiceFunction,
    { applicationName }: LambdaApplication,
    group: CfnDeploymentGroup,
  ): InvocationTarget {
    if (!version) throw new Error(`The function ${id} has no version.`);
    // The ARN has the name and the version of the function: one parameter of this stack, which can have 200.
    const part = (index: number): string => Fn.select(index, Fn.split(':', version.functionArn));
    const [functionName, functionVersion] = [part(6), part(7)];
    const alias = new CfnAlias(this, `${id}-${aliasName}`, { functionName, functionVersion, name: aliasName });
    alias.cfnOptions.updatePolicy = {
      codeDeployLambdaAliasUpdate: { applicationName, deploymentGroupName: group.ref },
    };
    alias.addResourceDependency(group);
    return { arn: alias.ref, name: alias.ref, functionName, qualifier: aliasName };
  }

  private createRole(): IRole {
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited')],
    });
    acknowledgeFinding(
      role,
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      'CodeDeploy documents this policy for its role in deployments of functions.',
    );
    return role as IRole;
  }
}
