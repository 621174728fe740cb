import { Aws, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiDefinition,
  BasePathMapping,
  DomainName,
  EndpointType,
  LogGroupLogDestination,
  SecurityPolicy,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Contract } from '../lib/api/contract.ts';
import { acknowledgeFinding } from './acknowledgements.ts';
import type { DeploymentOptions } from './deployment-options.ts';
import { buildGatewayDocument, type Route } from './gateway-document.ts';
import type { ServiceFunction } from './service-function.ts';

interface ApiProps {
  readonly contracts: readonly Contract[];
  /** The notification endpoints and the console. */
  readonly routes: readonly Route[];
  /** Functions by the id of their contract or route. */
  readonly functions: ReadonlyMap<string, ServiceFunction>;
  readonly options: DeploymentOptions;
}

/** The regional REST API. Retained if the stack is deleted, because clients in app stores contain its URL. */
export class Api extends Construct {
  readonly api: SpecRestApi;
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly accessLog: LogGroup;
  /** Host name to which the DNS record of the custom domain must point. */
  readonly domainTarget: string | undefined;

  constructor(scope: Construct, id: string, { contracts, routes, functions, options }: ApiProps) {
    super(scope, id);
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // The API name is a dimension of the metrics, so it must be unique for each stack.
    const title = Stack.of(this).stackName;
    const invocationRole = this.createInvocationRole([...functions.values()]);
    this.api = new SpecRestApi(this, 'RestApi', {
      restApiName: title,
      apiDefinition: ApiDefinition.fromInline(
        buildGatewayDocument(contracts, {
          title,
          routes,
          invocationRoleArn: invocationRole.roleArn,
          toInvocationUri: (functionId) => buildInvocationUri(functions, functionId),
        }),
      ),
      endpointTypes: [EndpointType.REGIONAL],
      // API Gateway rejects a stage with an access log if the account has no CloudWatch role.
      cloudWatchRole: true,
      deployOptions: {
        stageName: 'live',
        // The trace segment of API Gateway contains the whole URL, and clients pass keys in the query. Functions are
        // traced.
        tracingEnabled: false,
        throttlingRateLimit: 2_000,
        throttlingBurstLimit: 1_000,
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat,
      },
    });
    this.api.applyRemovalPolicy(RemovalPolicy.RETAIN);
    this.api.deploymentStage.node.addDependency(invocationRole);
    const { restApiId, deploymentStage } = this.api;
    this.acknowledgeFindings(options);
    const domain = this.addCustomDomain(options);
    this.domainTarget = domain?.target;
    this.url =
      domain?.url ?? `https://${restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}/${deploymentStage.stageName}`;
  }

  /**
   * Creates the role with which API Gateway invokes the functions. A permission of each function instead would be a
   * resource each, and a stack can have 500 resources.
   * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
   */
  private createInvocationRole(functions: readonly ServiceFunction[]): Role {
    const role = new Role(this, 'InvocationRole', { assumedBy: new ServicePrincipal('apigateway.amazonaws.com') });
    role.addToPolicy(
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        resources: functions.map(({ target }) => target.functionArn),
      }),
    );
    return role;
  }

  private acknowledgeFindings({ waf }: DeploymentOptions): void {
    acknowledgeFinding(
      this.api,
      'APIG2',
      'Each function validates its requests. API Gateway has one format for rejected bodies, and the endpoints have four.',
    );
    acknowledgeFinding(
      this.api.deploymentStage,
      'APIG6',
      'Execution logs contain parameter values: keys of clients in the query and usernames in the path. Access logs are enabled.',
    );
    if (!waf)
      acknowledgeFinding(
        this.api.deploymentStage,
        'APIG3',
        'A web ACL has a fixed monthly price. The option `waf` adds one.',
      );
    acknowledgeFinding(
      this.api.node.findChild('CloudWatchRole'),
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      'API Gateway documents this policy for the role that writes logs. It is a setting of the whole account.',
    );
  }

  private addCustomDomain({ domainName, certificateArn, basePath }: DeploymentOptions) {
    if (domainName === undefined || certificateArn === undefined) return undefined;
    const domain = new DomainName(this, 'DomainName', {
      domainName,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    new BasePathMapping(this, 'BasePathMapping', {
      domainName: domain,
      restApi: this.api,
      ...(basePath !== undefined && { basePath }),
    });
    const url = `https://${domainName}${basePath === undefined ? '' : `/${basePath}`}`;
    return { url, target: domain.domainNameAliasDomainName };
  }
}

function buildInvocationUri(functions: ApiProps['functions'], functionId: string): string {
  const target = functions.get(functionId)?.target;
  if (!target) throw new Error(`The function ${functionId} is not found.`);
  return `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${target.functionArn}/invocations`;
}

/**
 * CloudWatch adds the time. Omits query string and headers, which can contain keys, and logs the path template, because
 * the path can contain a username.
 */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: AccessLogField.contextRequestId(),
    method: AccessLogField.contextHttpMethod(),
    route: AccessLogField.contextResourcePath(),
    status: AccessLogField.contextStatus(),
    error: AccessLogField.contextErrorResponseType(),
    integrationError: '$context.integrationErrorMessage',
    integrationStatus: '$context.integration.status',
    integrationLatencyMs: '$context.integration.latency',
    latencyMs: AccessLogField.contextResponseLatency(),
    bytes: AccessLogField.contextResponseLength(),
    ip: AccessLogField.contextIdentitySourceIp(),
  }),
);
