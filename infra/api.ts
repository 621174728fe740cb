import { Aws, RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiDefinition,
  BasePathMapping,
  DomainName,
  EndpointType,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  SecurityPolicy,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Contract } from '../lib/api/contract.ts';
import { acknowledgeFinding } from './acknowledgements.ts';
import type { ApiFunction } from './api-functions.ts';
import { getServiceName } from './code-stack.ts';
import { type DeploymentOptions, getLimits } from './deployment-options.ts';
import { buildGatewayDocument, type Invocation, type Route, toGatewayPath } from './gateway-document.ts';
import type { InvocationTarget } from './invocation-target.ts';

interface ApiProps {
  readonly contracts: readonly Contract[];
  /** The notification endpoints and the console. */
  readonly routes: readonly Route[];
  /** Functions by the id of their contract or route. */
  readonly functions: ReadonlyMap<string, ApiFunction>;
  /** Returns what invokes a function. */
  readonly getTarget: (functionId: string) => InvocationTarget;
  readonly accessLog: ILogGroup;
  readonly options: DeploymentOptions;
}

/** The regional REST API. Retained if the stack is deleted, because clients in app stores contain its URL. */
export class Api extends Construct {
  readonly api: SpecRestApi;
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** Host name to which the DNS record of the custom domain must point. */
  readonly domainTarget: string | undefined;

  constructor(scope: Construct, id: string, { contracts, routes, functions, getTarget, accessLog, options }: ApiProps) {
    super(scope, id);
    const limits = getLimits(options);
    // The dimension of the metrics: api-metrics.ts.
    const title = getServiceName(this);
    this.api = new SpecRestApi(this, 'RestApi', {
      restApiName: title,
      apiDefinition: ApiDefinition.fromInline(
        buildGatewayDocument(contracts, {
          title,
          routes,
          toInvocation: (functionId) => ({
            uri: buildInvocationUri(getTarget(functionId)),
            credentials: getInvocationRole(functions, functionId),
          }),
        }),
      ),
      endpointTypes: [EndpointType.REGIONAL],
      // API Gateway rejects a stage with an access log if the account lacks a CloudWatch role.
      cloudWatchRole: true,
      // All stages of the region use the role: without it, a failed first deployment of one would end the logs of the
      // others.
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: 'live',
        // The trace segment of API Gateway contains the whole URL, and clients pass keys in the query. Functions are
        // traced.
        tracingEnabled: false,
        ...toThrottle(limits.stageRequestsPerSecond),
        methodOptions: buildValidationThrottles(contracts, limits.validationRequestsPerSecond),
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat,
      },
    });
    this.api.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    const { restApiId, deploymentStage } = this.api;
    this.acknowledgeFindings(options);
    const domain = this.addCustomDomain(options);
    this.domainTarget = domain?.target;
    this.url =
      domain?.url ?? `https://${restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}/${deploymentStage.stageName}`;
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

/** Requests a second, and half of it in a burst. */
const toThrottle = (throttlingRateLimit: number): MethodDeploymentOptions => ({
  throttlingRateLimit,
  throttlingBurstLimit: Math.floor(throttlingRateLimit / 2),
});

/**
 * Limits validations below the stage: a flood of them with a public key leaves requests to the endpoints that servers
 * and stores use. Few clients call the aliases, and all paths together stay below the stage.
 */
const buildValidationThrottles = (
  contracts: readonly Contract[],
  requestsPerSecond: number,
): Record<string, MethodDeploymentOptions> =>
  Object.fromEntries(
    contracts
      .filter(({ area }) => area === 'validation')
      .flatMap(({ path, aliases, method, errorFormat }) => [
        [
          `${toGatewayPath(path)}/${method}`,
          toThrottle(requestsPerSecond * (errorFormat === 'validation' ? 1 : 0.5)),
        ] as const,
        ...aliases.map((alias) => [`${toGatewayPath(alias)}/${method}`, toThrottle(requestsPerSecond * 0.2)] as const),
      ]),
  );

const buildInvocationUri = ({ arn }: InvocationTarget): string =>
  `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${arn}/invocations`;

function getInvocationRole(functions: ApiProps['functions'], functionId: string): Invocation['credentials'] {
  const apiFunction = functions.get(functionId);
  if (!apiFunction) throw new Error(`The function ${functionId} is not found.`);
  return apiFunction.invocationRoleArn;
}

/**
 * CloudWatch adds the time. Omits query string and headers, which can contain keys, and logs the path template, because
 * the path can contain a username.
 */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: AccessLogField.contextRequestId(),
    extendedRequestId: AccessLogField.contextExtendedRequestId(),
    lambdaRequestId: '$context.integration.requestId',
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
