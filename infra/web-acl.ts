import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';

interface WebAclProps {
  readonly api: SpecRestApi;
}

/** Requests of one address in five minutes. An app server that reads customers needs far more than one client. */
const maxRequestsPerAddress = 12_000;

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
];

/** A web ACL for the stage of the API: a rate rule for each address, and the managed core rules. */
export class WebAcl extends Construct {
  constructor(scope: Construct, id: string, { api }: WebAclProps) {
    super(scope, id);
    const webAcl = new CfnWebACL(this, 'WebAcl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: buildVisibility('web-acl'),
      rules: [
        {
          name: 'rate-per-address',
          priority: 0,
          action: { block: { customResponse: { responseCode: 429 } } },
          statement: { rateBasedStatement: { aggregateKeyType: 'IP', limit: maxRequestsPerAddress } },
          visibilityConfig: buildVisibility('rate-per-address'),
        },
        {
          name: 'core-rules',
          priority: 1,
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

/** Without sampled requests: a sample contains the query string, and clients pass keys in it. */
const buildVisibility = (metricName: string) => ({
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
  metricName,
});
