import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { DeploymentOptions } from './deployment-options.ts';

interface WebAclProps {
  readonly api: SpecRestApi;
  readonly options: Pick<DeploymentOptions, 'wafRequestsPerAddress' | 'wafRequestsPerKey'>;
}

/** In five minutes, the default window of WAF. A server that reads customers needs far more than one client. */
const defaultRequestsPerAddress = 60_000;
/** A quarter of what the stage accepts in five minutes. */
const defaultRequestsPerKey = 150_000;

/**
 * Headers of the response to a blocked request. It takes precedence over the gateway response, so browsers need the
 * CORS headers here.
 * @see https://docs.aws.amazon.com/waf/latest/developerguide/customizing-the-response-for-blocked-requests.html
 */
const blockedHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After',
  'Retry-After': '60',
};
const blockedBody = { ok: false, status: 429, code: 'ConnectionFailed', message: 'Too many requests.' };

/**
 * Stores send notifications from few addresses and repeat rejected ones for days only, so no rate rule counts them.
 * Segments of other paths have their slashes encoded.
 */
const notNotification: CfnWebACL.StatementProperty = {
  notStatement: {
    statement: {
      byteMatchStatement: {
        fieldToMatch: { uriPath: {} },
        positionalConstraint: 'CONTAINS',
        searchString: '/webhook/',
        textTransformations: [{ priority: 0, type: 'NONE' }],
      },
    },
  },
};

const noTransformation = [{ priority: 0, type: 'NONE' }];

/** Where clients send their key. A request without it is not counted. */
const keySources = {
  header: { header: { name: 'authorization', textTransformations: noTransformation } },
  query: { queryArgument: { name: 'apiKey', textTransformations: noTransformation } },
} as const;

/**
 * Core rules that reject valid requests, counted only: receipts exceed 8 KB, bodies contain URLs and base64 text
 * similar to markup, and some stores and servers send no user agent.
 * @see https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
 */
const countedCoreRules = [
  'SizeRestrictions_BODY',
  'SizeRestrictions_QUERYSTRING',
  'CrossSiteScripting_BODY',
  'EC2MetaDataSSRF_BODY',
  'GenericLFI_BODY',
  'GenericRFI_BODY',
  'GenericRFI_QUERYARGUMENTS',
  'NoUserAgent_HEADER',
  // Usernames are part of paths and queries, and can end like a file: `x.bak`.
  'RestrictedExtensions_URIPATH',
  'RestrictedExtensions_QUERYARGUMENTS',
  'GenericLFI_URIPATH',
  'GenericLFI_QUERYARGUMENTS',
  'GenericRFI_URIPATH',
];

/** A web ACL for the stage of the API: rate rules for each address and each key, and the managed core rules. */
export class WebAcl extends Construct {
  constructor(scope: Construct, id: string, { api, options }: WebAclProps) {
    super(scope, id);
    const webAcl = new CfnWebACL(this, 'WebAcl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: buildVisibility('web-acl'),
      customResponseBodies: {
        [blockedBodyKey]: { contentType: 'APPLICATION_JSON', content: JSON.stringify(blockedBody) },
      },
      rules: [
        buildRateRule('rate-per-address', {
          priority: 0,
          limit: options.wafRequestsPerAddress ?? defaultRequestsPerAddress,
        }),
        ...(['header', 'query'] as const).map((source, index) =>
          buildRateRule(`rate-per-key-in-${source}`, {
            priority: 1 + index,
            limit: options.wafRequestsPerKey ?? defaultRequestsPerKey,
            customKeys: [keySources[source]],
          }),
        ),
        {
          name: 'core-rules',
          priority: 3,
          overrideAction: { none: {} },
          statement: {
            managedRuleGroupStatement: {
              vendorName: 'AWS',
              name: 'AWSManagedRulesCommonRuleSet',
              ruleActionOverrides: countedCoreRules.map((name) => ({ name, actionToUse: { count: {} } })),
            },
          },
          visibilityConfig: buildVisibility('core-rules'),
        },
      ],
    });
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: api.deploymentStage.stageArn,
      webAclArn: webAcl.attrArn,
    });
  }
}

const blockedBodyKey = 'too-many-requests';

interface RateRule {
  readonly priority: number;
  /** Requests in five minutes. */
  readonly limit: number;
  /** By default, the address. */
  readonly customKeys?: CfnWebACL.RateBasedStatementCustomKeyProperty[];
}

const buildRateRule = (name: string, { priority, limit, customKeys }: RateRule): CfnWebACL.RuleProperty => ({
  name,
  priority,
  action: {
    block: {
      customResponse: {
        responseCode: 429,
        customResponseBodyKey: blockedBodyKey,
        responseHeaders: Object.entries(blockedHeaders).map(([header, value]) => ({ name: header, value })),
      },
    },
  },
  statement: {
    rateBasedStatement: {
      limit,
      scopeDownStatement: notNotification,
      ...(customKeys ? { aggregateKeyType: 'CUSTOM_KEYS', customKeys } : { aggregateKeyType: 'IP' }),
    },
  },
  visibilityConfig: buildVisibility(name),
});

/** Without sampled requests: a sample contains the query string, and clients pass keys in it. */
const buildVisibility = (metricName: string) => ({
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
  metricName,
});
