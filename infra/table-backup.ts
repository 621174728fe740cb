import { Duration, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { EventField, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import type { Role } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { acknowledgeFinding } from './acknowledgements.ts';

interface TableBackupProps {
  readonly table: ITable;
  /** Receives the jobs that fail. */
  readonly topic: ITopic;
  readonly adoptedTableName?: string | undefined;
}

/** @see https://docs.aws.amazon.com/aws-backup/latest/devguide/API_BackupSelection.html */
const maxSelectionNameLength = 50;
/** @see https://docs.aws.amazon.com/aws-backup/latest/devguide/API_CreateBackupVault.html */
const maxVaultNameLength = 50;

/**
 * Returns a name that is different after a deletion of the stack. The vault outlives the stack, and a vault with the
 * same name would fail the next deployment. The id of a stack ends with a UUID: `arn:…:stack/<name>/<uuid>`.
 */
function buildVaultName(scope: Construct): string {
  const { stackName, stackId } = Stack.of(scope);
  const firstGroup = Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', stackId))));
  return Fn.join('-', [stackName.slice(0, maxVaultNameLength - '-01234567'.length), firstGroup]);
}

/** Daily backups of the table for 35 days and monthly ones for a year, in a vault that outlives the stack. */
export class TableBackup extends Construct {
  constructor(scope: Construct, id: string, { table, topic, adoptedTableName }: TableBackupProps) {
    super(scope, id);
    const backupVaultName = buildVaultName(this);
    const plan = new BackupPlan(this, 'Plan', {
      // By default, the name is the id of the construct. An account can have the plans of several stages.
      backupPlanName: Stack.of(this).stackName,
      backupVault: new BackupVault(this, 'Vault', {
        backupVaultName,
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      }),
      backupPlanRules: [
        new BackupPlanRule({
          ruleName: 'daily',
          scheduleExpression: Schedule.cron({ hour: '3', minute: '0' }),
          deleteAfter: Duration.days(35),
        }),
        new BackupPlanRule({
          ruleName: 'monthly',
          scheduleExpression: Schedule.cron({ day: '1', hour: '4', minute: '0' }),
          deleteAfter: Duration.days(365),
        }),
      ],
    });
    const { grantPrincipal } = plan.addSelection('Table', {
      resources: [BackupResource.fromDynamoDbTable(table)],
      // CloudFormation creates the selection of an adopted table before it deletes the previous selection.
      ...(adoptedTableName !== undefined && { backupSelectionName: adoptedTableName.slice(-maxSelectionNameLength) }),
    });
    // See https://docs.aws.amazon.com/aws-backup/latest/devguide/eventbridge.html
    new Rule(this, 'Failures', {
      description: 'Backups of the table that fail',
      eventPattern: {
        source: ['aws.backup'],
        detailType: ['Backup Job State Change'],
        detail: { state: ['FAILED', 'EXPIRED', 'ABORTED'], backupVaultName: [backupVaultName] },
      },
      targets: [
        new SnsTopic(topic, {
          message: RuleTargetInput.fromText(
            `The backup job ${EventField.fromPath('$.detail.backupJobId')} of the table ended with ${EventField.fromPath('$.detail.state')}. Action: follow the runbook of failed backups. Severity: ticket.`,
          ),
        }),
      ],
    });
    acknowledgeFinding(
      grantPrincipal as Role,
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
      'AWS Backup documents this policy for the role of a backup plan.',
    );
  }
}
