import { basename, join } from 'node:path';
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  type IVersion,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import { acknowledgeWildcards, type WildcardAction } from './acknowledgements.ts';
import { bundlesFolder } from './build-functions.ts';
import { getEventRetentionDays, getOtlpTracesUrl, getRequestsPerKey } from './deployment-options.ts';
import { FunctionRole } from './function-role.ts';

interface ServiceFunctionProps {
  /** Folder of the code in the folder of the bundles: `<area>/<function>`. */
  readonly bundle: string;
  readonly description: string;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** The function may send messages to the queue that invokes it. */
  readonly allowsRecursion?: boolean;
  readonly readsStream?: boolean;
  /** Each change of the function creates a version, which its alias selects. */
  readonly hasVersion?: boolean;
}

/** Name of the alias of each function with versions. */
export const aliasName = 'live';

/** Actions that CDK adds to the policy of each function with tracing, and of each function that reads a stream. */
const traceActions: readonly WildcardAction[] = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
const streamActions: readonly WildcardAction[] = ['dynamodb:ListStreams'];

/** A function of the service: arm64, with its own log group and its own role. */
export class ServiceFunction extends Construct {
  /** Construct id: the id of its contract, notification endpoint or worker. */
  readonly id: string;
  readonly handler: LambdaFunction;
  readonly version: IVersion | undefined;
  /**
   * ARN of the alias in gradual-release.ts, or of the function: what API Gateway, queues, streams and schedules invoke.
   */
  readonly invokedArn: string;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    this.id = id;
    const logGroup = new LogGroup(this, 'Log', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const otlpTracesUrl = getOtlpTracesUrl(this.node);
    const role = new FunctionRole(this, 'Role');
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    this.handler = new LambdaFunction(this, 'Function', {
      code: Code.fromAsset(join(this.node.tryGetContext('claimcheck:bundles') ?? bundlesFolder, props.bundle)),
      handler: `${basename(props.bundle)}.handler`,
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMb,
      timeout: Duration.seconds(props.timeoutSeconds),
      // For the policy to write spans. Active tracing records one request a second of each function: in a quiet service
      // nearly all, at 5 dollars a million. https://docs.aws.amazon.com/lambda/latest/dg/services-xray.html
      ...(otlpTracesUrl && { tracing: Tracing.PASS_THROUGH }),
      loggingFormat: LoggingFormat.JSON,
      // Without the start and the report of each invocation, 620 bytes: metrics contain duration and errors.
      // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
      systemLogLevelV2: SystemLogLevel.WARN,
      logGroup,
      role,
      ...(props.allowsRecursion && { recursiveLoop: RecursiveLoop.ALLOW }),
      environment: {
        EVENT_RETENTION_DAYS: getEventRetentionDays(this.node),
        ...omitUndefined({
          REQUESTS_PER_KEY: getRequestsPerKey(this.node),
          OTLP_TRACES_URL: otlpTracesUrl,
        }),
        ...props.environment,
      },
    });
    acknowledgeWildcards(role, [...(otlpTracesUrl ? traceActions : []), ...(props.readsStream ? streamActions : [])]);
    this.version = props.hasVersion ? (this.handler.currentVersion as IVersion) : undefined;
    this.invokedArn = props.hasVersion ? `${this.handler.functionArn}:${aliasName}` : this.handler.functionArn;
  }
}
