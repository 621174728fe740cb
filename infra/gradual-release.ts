import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { type IRole, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledgeFinding } from './acknowledgements.ts';
import type { Alarms } from './alarms.ts';
import type { DeploymentOptions } from './deployment-options.ts';
import type { ServiceFunction } from './service-function.ts';

interface GradualReleaseProps {
  readonly trafficShift: NonNullable<DeploymentOptions['canary']>;
  /** Functions with an alias. */
  readonly functions: Iterable<ServiceFunction>;
  readonly alarms: Alarms;
}

/**
 * Shifts the traffic of each alias to a new version with CodeDeploy. If an alarm of a function starts during the shift,
 * its deployment fails and CloudFormation rolls the whole stack back. Each alias has a deployment group, because a
 * group runs one deployment at a time and CloudFormation updates all aliases concurrently.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-updatepolicy.html
 * @see https://docs.aws.amazon.com/codedeploy/latest/userguide/limits.html
 */
export class GradualRelease extends Construct {
  constructor(scope: Construct, id: string, { trafficShift, functions, alarms }: GradualReleaseProps) {
    super(scope, id);
    const application = new LambdaApplication(this, 'Application');
    const deploymentConfig = LambdaDeploymentConfig.fromLambdaDeploymentConfigName(
      this,
      'Config',
      `CodeDeployDefault.Lambda${trafficShift}`,
    );
    const role = this.createRole();
    for (const { id: functionId, alias } of functions) {
      if (alias === undefined) continue;
      new LambdaDeploymentGroup(this, functionId, {
        application,
        alias,
        deploymentConfig,
        role,
        alarms: [...alarms.listByFunction(functionId)],
        // CodeDeploy starts no deployment while an alarm is on, so an immediate shift is the way out of a bad release.
        ignoreAlarmConfiguration: trafficShift === 'AllAtOnce',
      });
    }
  }

  private createRole(): IRole {
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') });
    acknowledgeFinding(
      role,
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      'CodeDeploy documents this policy for its role in deployments of functions.',
    );
    return role as IRole;
  }
}
