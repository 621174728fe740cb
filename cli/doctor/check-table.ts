import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { indexes } from '../../lib/foundation/key.ts';
import { awsClientOptions } from '../../lib/foundation/outgoing/aws-client.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';

/**
 * Finds missing protection, indexes and functions of the table. The stack does not set them on an adopted table.
 * `streamArn` is the stream that the workers read.
 */
export async function checkTable(TableName: string, streamArn: string | undefined): Promise<readonly Finding[]> {
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
  const activeIndexes = (table?.GlobalSecondaryIndexes ?? [])
    .filter(({ IndexStatus }) => IndexStatus === 'ACTIVE')
    .map(({ IndexName }) => IndexName);
  const missingIndexes = (Object.keys(indexes) as IndexName[]).filter((name) => !activeIndexes.includes(name));
  const isDead = hasStream && streamArn !== undefined && table.LatestStreamArn !== streamArn;
  return [
    ...missingIndexes.map((name) => createIndexFinding(TableName, name)),
    ...(isDead ? [createDeadStreamFinding(TableName)] : []),
    ...(hasRecovery ? [] : [createRecoveryFinding(TableName)]),
    ...(table?.DeletionProtectionEnabled ? [] : [createDeletableFinding(TableName)]),
    ...(hasTtl ? [] : [createTtlFinding(TableName)]),
    ...(hasStream ? [] : [createStreamFinding(TableName)]),
  ];
}

type IndexName = keyof typeof indexes;

function createIndexFinding(table: string, index: IndexName): Finding {
  const { pk, sk } = indexes[index];
  const attributes = [pk, sk].map((name) => `AttributeName=${name},AttributeType=S`).join(' ');
  const create = {
    IndexName: index,
    KeySchema: [
      { AttributeName: pk, KeyType: 'HASH' },
      { AttributeName: sk, KeyType: 'RANGE' },
    ],
    Projection: { ProjectionType: 'KEYS_ONLY' },
  };
  return createFinding('table-index-missing', {
    problem: `The table ${table} lacks the active index ${index}, so ${impacts[index]}.`,
    cure: `Run \`aws dynamodb update-table --table-name ${table} --attribute-definitions ${attributes} --global-secondary-index-updates '${JSON.stringify([{ Create: create }])}'\` and wait until the index is active.`,
  });
}

const impacts: Readonly<Record<IndexName, string>> = {
  byCreated: 'lists, failed webhooks and the list of apps fail',
  byKey: 'transactions by id, changed purchases and webhook deliveries are not found',
  due: 'refreshes, webhook retries and ends of grants and credits do not happen',
  byUser: 'exports and erasures of customers, their claims and purchases of a store account are incomplete',
};

const createDeadStreamFinding = (table: string): Finding =>
  createFinding('table-stream-replaced', {
    problem: `The workers read an earlier stream of the table ${table}, which was enabled again, so webhooks and statistics are missing.`,
    cure: 'Deploy with `-c tableRevision=<another text>`, see Restore in docs/operating/restore.md. Then run `webhooks backfill` and `stats recount` for the time since the stream was replaced.',
  });

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
