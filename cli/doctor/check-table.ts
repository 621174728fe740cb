import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { createFinding, type Finding } from '../../lib/health/finding.ts';
import { awsClientOptions } from '../../lib/shared/connections.ts';

/** Finds missing protection and functions of the table. The stack does not set them on an adopted table. */
export async function checkTable(TableName: string): Promise<readonly Finding[]> {
  const client = new DynamoDBClient(awsClientOptions);
  const [{ Table: table }, { ContinuousBackupsDescription: backups }, { TimeToLiveDescription: ttl }] =
    await Promise.all([
      client.send(new DescribeTableCommand({ TableName })),
      client.send(new DescribeContinuousBackupsCommand({ TableName })),
      client.send(new DescribeTimeToLiveCommand({ TableName })),
    ]);
  const hasRecovery = backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED';
  const hasStream = table?.StreamSpecification?.StreamViewType === 'NEW_AND_OLD_IMAGES';
  const hasTtl = ttl?.AttributeName === 'ttl' && ['ENABLED', 'ENABLING'].includes(String(ttl.TimeToLiveStatus));
  return [
    ...(hasRecovery ? [] : [createRecoveryFinding(TableName)]),
    ...(table?.DeletionProtectionEnabled ? [] : [createDeletableFinding(TableName)]),
    ...(hasTtl ? [] : [createTtlFinding(TableName)]),
    ...(hasStream ? [] : [createStreamFinding(TableName)]),
  ];
}

const createRecoveryFinding = (table: string): Finding =>
  createFinding('table-recovery-off', {
    problem: `The table ${table} lacks point-in-time recovery, so deleted or damaged data cannot be restored.`,
    cure: `Run \`aws dynamodb update-continuous-backups --table-name ${table} --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true\`.`,
  });

const createDeletableFinding = (table: string): Finding =>
  createFinding('table-deletable', {
    problem: `The table ${table} is not protected from deletion.`,
    cure: `Run \`aws dynamodb update-table --table-name ${table} --deletion-protection-enabled\`.`,
  });

const createTtlFinding = (table: string): Finding =>
  createFinding('table-ttl-off', {
    problem: `The table ${table} does not delete expired items, so it grows and costs more.`,
    cure: `Run \`aws dynamodb update-time-to-live --table-name ${table} --time-to-live-specification Enabled=true,AttributeName=ttl\`.`,
  });

const createStreamFinding = (table: string): Finding =>
  createFinding('table-stream-off', {
    problem: `The table ${table} does not have a stream with new and old images, so webhooks and statistics are missing.`,
    cure: `Run \`aws dynamodb update-table --table-name ${table} --stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES\` and deploy again.`,
  });
