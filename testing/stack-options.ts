const account = '123456789012';

/** A value of each deployment option. */
export const everyOption = {
  stage: 'production',
  domainName: 'purchases.example.com',
  certificateArn: `arn:aws:acm:eu-west-1:${account}:certificate/4711`,
  basePath: 'claimcheck',
  alarmEmail: 'operator@example.com',
  pageEmail: 'pager@example.com',
  waf: 'true',
  wafRequestsPerAddress: '3000',
  wafRequestsPerKey: '9000',
  tableName: 'Claimcheck-restored',
  masterKeyArn: `arn:aws:secretsmanager:eu-west-1:${account}:secret:MasterKey-AbCdEf`,
  tableRevision: '2',
  maxConcurrency: '5',
  stageRequestsPerSecond: '4000',
  validationRequestsPerSecond: '1500',
  requestsPerKey: '400',
  counterParts: '40',
  eventRetentionDays: '30',
  backup: 'true',
  backupCopyVaultArn: `arn:aws:backup:eu-central-1:${account}:backup-vault:copies`,
  masterKeyReplicaRegion: 'eu-central-1',
  syntheticCheck: 'true',
  exportLocations: 's3://example-exports/claimcheck',
  otlpTracesUrl: 'https://xray.eu-west-1.amazonaws.com/v1/traces',
  monthlyBudgetUsd: '200',
  canary: 'true',
};

const { tableName: _table, masterKeyArn: _key, tableRevision: _revision, ...optionsWithoutAdoption } = everyOption;
const { domainName, certificateArn, backup, canary } = everyOption;

/** The options of the stacks that tests read. */
export const stackOptions = {
  none: {},
  every: everyOption,
  everyWithoutAdoption: optionsWithoutAdoption,
  canary: { canary },
  immediate: { canary: 'AllAtOnce' },
  /** With every resource that holds data, and without a stage in its names. */
  stateful: { domainName, certificateArn, backup },
  /** With 60 more endpoints. */
  grown: everyOption,
} as const satisfies Record<string, Readonly<Record<string, string>>>;

export type StackId = keyof typeof stackOptions;
