import { Duration, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { EventField, type EventPattern, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import type { Role } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { acknowledgeFinding } from './acknowledgements.ts';
import { backupRules, warmDays } from './backup-rules.ts';

interface TableBackupProps {
  readonly table: ITable;
  /** Receives the jobs that fail. */
  readonly topic: ITopic;
  readonly adoptedTableName?: string | undefined;
  /** Vault that receives a copy of each backup, in another region or account. */
  readonly copyVaultArn?: string | undefined;
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

/** The backups of the table, in a vault that outlives the stack. */
export class TableBackup extends Construct {
  constructor(scope: Construct, id: string, { table, topic, adoptedTableName, copyVaultArn }: TableBackupProps) {
    super(scope, id);
    const backupVaultName = buildVaultName(this);
    const copyVault =
      copyVaultArn === undefined ? undefined : BackupVault.fromBackupVaultArn(this, 'Copies', copyVaultArn);
    const plan = new BackupPlan(this, 'Plan', {
      // By default, the name is the id of the construct. An account can have the plans of several stages.
      backupPlanName: Stack.of(this).stackName,
      backupVault: new BackupVault(this, 'Vault', {
        backupVaultName,
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      }),
      backupPlanRules: backupRules.map(({ ruleName, cron, deleteAfterDays }) => {
        const lifecycle = {
          moveToColdStorageAfter: Duration.days(warmDays),
          deleteAfter: Duration.days(deleteAfterDays),
        };
        return new BackupPlanRule({
          ruleName,
          scheduleExpression: Schedule.cron(cron),
          ...lifecycle,
          ...(copyVault && { copyActions: [{ destinationBackupVault: copyVault, ...lifecycle }] }),
        });
      }),
    });
    const { grantPrincipal } = plan.addSelection('Table', {
      resources: [BackupResource.fromDynamoDbTable(table)],
      // CloudFormation creates the selection of an adopted table before it deletes the previous selection.
      ...(adoptedTableName !== undefined && { backupSelectionName: adoptedTableName.slice(-maxSelectionNameLength) }),
    });
    this.reportFailures('Failures', topic, {
      job: 'backup job',
      idField: 'backupJobId',
      pattern: {
        detailType: ['Backup Job State Change'],
        detail: { state: ['FAILED', 'EXPIRED', 'ABORTED'], backupVaultName: [backupVaultName] },
      },
    });
    if (copyVaultArn !== undefined)
      this.reportFailures('CopyFailures', topic, {
        job: 'copy job',
        idField: 'copyJobId',
        pattern: {
          detailType: ['Copy Job State Change'],
          detail: { state: ['FAILED'], destinationBackupVaultArn: [copyVaultArn] },
        },
      });
    acknowledgeFinding(
      grantPrincipal as Role,
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
      'AWS Backup documents this policy for the role of a backup plan.',
    );
  }
  /** @see https://docs.aws.amazon.com/aws-backup/latest/devguide/eventbridge.html */
  private reportFailures(id: string, topic: ITopic, { job, idField, pattern }: FailedJobs): void {
    const jobId = EventField.fromPath(`$.detail.${idField}`);
    const state = EventField.fromPath('$.detail.state');
    new Rule(this, id, {
      description: id === 'Failures' ? 'Backups of the table that fail' : 'Copies of backups that fail',
      eventPattern: { source: ['aws.backup'], ...pattern },
      targets: [
        new SnsTopic(topic, {
          message: RuleTargetInput.fromText(
            `The ${job} ${jobId} of the table ended with ${state}. Action: follow the runbook of failed backups. Severity: ticket.`,
          ),
        }),
      ],
    });
  }
}

interface FailedJobs {
  /** Name of the kind of job in the text. */
  readonly job: string;
  readonly idField: string;
  readonly pattern: Pick<EventPattern, 'detailType' | 'detail'>;
}
