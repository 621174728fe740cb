import type { Node } from 'constructs';
import * as v from 'valibot';
import { defaultRequestsPerSecond, maxRequestsPerSecond, minRequestsPerSecond } from '../lib/api/limits.ts';
import { maxCounterParts } from '../lib/foundation/counter-parts.ts';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import { defaultMaxConcurrency, workers } from './worker-definitions.ts';

/** A CDK context value: a string from `-c name=value`, or any JSON value of cdk.json. */
const Flag = v.pipe(
  v.union([v.boolean(), v.picklist(['true', 'false'])]),
  v.transform((value) => value === true || value === 'true'),
);
const WholeNumber = (minimum: number, maximum: number) =>
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+$/))]),
    v.transform(Number),
    v.integer(),
    v.minValue(minimum),
    v.maxValue(maximum),
  );
const Arn = (service: string) =>
  v.pipe(v.string(), v.regex(new RegExp(`^arn:aws[\\w-]*:${service}:`), `expected the ARN of ${service}`));

/**
 * Traffic shifts that CodeDeploy predefines for functions.
 * @see https://docs.aws.amazon.com/codedeploy/latest/userguide/deployment-configurations.html
 */
const TrafficShift = v.picklist([
  'Canary10Percent5Minutes',
  'Canary10Percent10Minutes',
  'Canary10Percent15Minutes',
  'Canary10Percent30Minutes',
  'Linear10PercentEvery1Minute',
  'Linear10PercentEvery2Minutes',
  'Linear10PercentEvery3Minutes',
  'Linear10PercentEvery10Minutes',
  'AllAtOnce',
]);

const exportLocation = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w!.'()=-]+)+$/;

/** The options of a deployment, from the CDK context. Absent options leave the template as it is without them. */
const DeploymentOptions = v.pipe(
  v.object({
    /**
     * Name of the environment, such as `production`. It is part of the stack name, because an account can have several
     * stages.
     */
    stage: v.optional(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,30}$/, 'expected lower-case letters and digits'))),
    /** Host name of the API, with a certificate of AWS Certificate Manager in the region of the stack. */
    domainName: v.optional(v.pipe(v.string(), v.regex(/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/))),
    certificateArn: v.optional(Arn('acm')),
    /** Path prefix under the custom domain, without slashes. */
    basePath: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{1,100}$/))),
    /** Subscribed to the topic of the alarms. */
    alarmEmail: v.optional(v.pipe(v.string(), v.email())),
    /** Subscribed to the alarms of severity `page` only, such as the address of a pager. */
    pageEmail: v.optional(v.pipe(v.string(), v.email())),
    /** Existing table and master key, for example after a restore. */
    tableName: v.optional(v.pipe(v.string(), v.regex(/^[\w.-]{3,255}$/))),
    masterKeyArn: v.optional(Arn('secretsmanager')),
    /** Any text. With another one, the stack reads the ARN of the stream of `tableName` again. */
    tableRevision: v.optional(v.pipe(v.string(), v.regex(/^[\w.-]{1,50}$/))),
    /** Maximum instances of each queue worker. Lambda accepts 2 to 1,000. */
    maxConcurrency: v.optional(WholeNumber(2, 1_000)),
    /** Requests a second that the stage accepts, and half of it in a burst. */
    stageRequestsPerSecond: v.optional(WholeNumber(100, 100_000)),
    /** Requests a second of `POST /v1/validate`. Its aliases and `POST /v1/purchase/verify` accept a share of it. */
    validationRequestsPerSecond: v.optional(WholeNumber(50, 50_000)),
    /** Requests a second of one key of an app without its own limit. */
    requestsPerKey: v.optional(WholeNumber(minRequestsPerSecond, maxRequestsPerSecond)),
    /** Maximum number of items that share the writes of one counter of the statistics. */
    counterParts: v.optional(WholeNumber(1, maxCounterParts)),
    /** Retention of events in days. */
    eventRetentionDays: v.optional(WholeNumber(1, 3_650)),
    /** Adds an AWS Backup plan for the table. */
    backup: v.optional(Flag),
    /** Vault that receives a copy of each backup, in a second region or account. */
    backupCopyVaultArn: v.optional(Arn('backup')),
    /** Region of a replica of the master key. */
    masterKeyReplicaRegion: v.optional(v.pipe(v.string(), v.regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'expected a region'))),
    /**
     * Releases new versions gradually and rolls them back if an alarm starts: a traffic shift, or `true` for the
     * default. The alarms have periods of five minutes, so the default observes two of them.
     */
    canary: v.optional(
      v.union([
        v.pipe(
          Flag,
          v.transform((isEnabled) => (isEnabled ? 'Canary10Percent10Minutes' : undefined)),
        ),
        TrafficShift,
      ]),
    ),
    /** Adds a web ACL with rate rules per address and per key, and the managed core rules. */
    waf: v.optional(Flag),
    /** Maximum requests of one address in five minutes. */
    wafRequestsPerAddress: v.optional(WholeNumber(100, 2_000_000_000)),
    /** Maximum requests with one key in five minutes. */
    wafRequestsPerKey: v.optional(WholeNumber(100, 2_000_000_000)),
    /** Calls the public URL each minute, with an alarm if it does not respond. */
    syntheticCheck: v.optional(Flag),
    /** Locations in Amazon S3 that scheduled exports may write, separated by commas. */
    exportLocations: v.optional(
      v.pipe(
        v.string(),
        v.transform((text) => text.split(',')),
        v.array(v.pipe(v.string(), v.regex(exportLocation, 'expected locations such as s3://bucket/prefix'))),
      ),
    ),
    /** OTLP receiver of the spans of requests and of their calls, such as the one of CloudWatch. */
    otlpTracesUrl: v.optional(v.pipe(v.string(), v.url(), v.regex(/^https:\/\/[^?#@]+$/, 'expected an https URL'))),
    /** Monthly budget in US dollars, with an alarm by email at 80 and 100 percent. */
    monthlyBudgetUsd: v.optional(WholeNumber(1, 1_000_000)),
  }),
  v.check(
    ({ domainName, certificateArn }) => (domainName === undefined) === (certificateArn === undefined),
    'domainName and certificateArn require each other.',
  ),
  v.check(
    ({ basePath, domainName }) => basePath === undefined || domainName !== undefined,
    'basePath requires domainName and certificateArn.',
  ),
  v.check(
    ({ tableName, masterKeyArn }) => tableName === undefined || masterKeyArn !== undefined,
    'tableName requires masterKeyArn: the values in an existing table are encrypted with its master key.',
  ),
  v.check(
    ({ backupCopyVaultArn, backup }) => backupCopyVaultArn === undefined || backup === true,
    'backupCopyVaultArn requires backup.',
  ),
  v.check(
    ({ tableRevision, tableName }) => tableRevision === undefined || tableName !== undefined,
    'tableRevision requires tableName.',
  ),
  v.check(
    (options) => getLimits(options).validationRequestsPerSecond <= getLimits(options).stageRequestsPerSecond / 2,
    'validationRequestsPerSecond must be at most half of stageRequestsPerSecond.',
  ),
  v.check(
    ({ waf = false, wafRequestsPerAddress, wafRequestsPerKey }) =>
      waf || (wafRequestsPerAddress === undefined && wafRequestsPerKey === undefined),
    'wafRequestsPerAddress and wafRequestsPerKey require waf.',
  ),
  v.check(
    ({ monthlyBudgetUsd, alarmEmail }) => monthlyBudgetUsd === undefined || alarmEmail !== undefined,
    'monthlyBudgetUsd requires alarmEmail.',
  ),
);
export type DeploymentOptions = v.InferOutput<typeof DeploymentOptions>;

/** Names of the options, as `-c name=value`. */
export const deploymentOptionNames = Object.keys(DeploymentOptions.pipe[0].entries) as (keyof DeploymentOptions)[];

/** Names of the CDK and of internal settings have other characters, such as `@aws-cdk/core:stackRelativeExports`. */
const optionPattern = /^[a-z]+$/i;

/** Reads the options from the CDK context. Throws an error that names each invalid or unknown option. */
export const readDeploymentOptions = (node: Node): DeploymentOptions =>
  parseDeploymentOptions(node.getAllContext() as Readonly<Record<string, unknown>>);

/** Parses the values of a CDK context. Throws an error that names each invalid or unknown option. */
export function parseDeploymentOptions(context: Readonly<Record<string, unknown>>): DeploymentOptions {
  const unknown = Object.keys(context).filter(
    (name) => optionPattern.test(name) && !(deploymentOptionNames as readonly string[]).includes(name),
  );
  if (unknown.length > 0)
    throw new Error(
      `The deployment options have unknown names: ${unknown.join(', ')}. The names are: ${deploymentOptionNames.join(', ')}.`,
    );
  const result = v.safeParse(DeploymentOptions, context);
  if (result.success) return result.output;
  const problems = result.issues.map(({ path, message }) => {
    const name = path?.[0] && String(path[0].key);
    return name === undefined ? message : `-c ${name}: ${message}`;
  });
  throw new Error(`The deployment options are not valid. ${problems.join(' ')}`);
}

/** The limits of a deployment without options. */
export const defaultLimits = {
  stageRequestsPerSecond: 2_000,
  validationRequestsPerSecond: 1_000,
  maxConcurrency: defaultMaxConcurrency,
  requestsPerKey: defaultRequestsPerSecond,
};
type Limits = Readonly<typeof defaultLimits>;

export const getLimits = (options: { readonly [Name in keyof Limits]?: number | undefined }): Limits => ({
  ...defaultLimits,
  ...omitUndefined(options),
});

/** Maximum instances of all queue workers. */
export const getWorkerConcurrency = (options: DeploymentOptions): number =>
  getLimits(options).maxConcurrency * workers.filter(({ source }) => 'queue' in source).length;

/** Name of the stack: `Claimcheck`, or `Claimcheck-<stage>`. */
export const getStackName = ({ stage }: DeploymentOptions): string =>
  stage === undefined ? 'Claimcheck' : `Claimcheck-${stage}`;

/** The environment must survive an accidental deletion. */
export const isProduction = ({ stage }: DeploymentOptions): boolean => stage === 'production';

/** Returns the retention of events in days, from the CDK context, which `readDeploymentOptions` has checked. */
export const getEventRetentionDays = (node: Node): string =>
  String(node.tryGetContext('eventRetentionDays' satisfies keyof DeploymentOptions) ?? 90);

/** Returns the receiver of spans, from the CDK context. Undefined without the option. */
export const getOtlpTracesUrl = (node: Node): string | undefined =>
  node.tryGetContext('otlpTracesUrl' satisfies keyof DeploymentOptions);

/** Returns the limit of keys of apps without their own limit, from the CDK context. Undefined without the option. */
export const getRequestsPerKey = (node: Node): string | undefined =>
  (node.tryGetContext('requestsPerKey' satisfies keyof DeploymentOptions) as number | undefined)?.toString();

/** Returns the maximum number of parts of a counter, from the CDK context. Undefined without the option. */
export const getCounterParts = (node: Node): string | undefined =>
  (node.tryGetContext('counterParts' satisfies keyof DeploymentOptions) as number | undefined)?.toString();
