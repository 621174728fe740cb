import type { DeploymentOptions } from '../../infra/deployment-options.ts';

interface OptionPrice {
  readonly part: string;
  readonly usd: number;
  readonly per: 'month' | 'GB and month';
}

/** The stack without users and options: `npm run bench cost`. */
export const idleUsd = 11.46;

/** A web ACL costs five dollars, and each rule one. @see https://aws.amazon.com/waf/pricing/ */
export const webAclUsd = 5 + 4;

/** Warm storage of full copies of the table. @see https://aws.amazon.com/backup/pricing/ */
const backupUsdPerGb = 0.1;
export const backupCopies = 35 + 12;

/** Lists the prices of the options in us-east-1, without traffic and free tiers. */
export const listPrices = ({ waf, syntheticCheck, backup }: DeploymentOptions): readonly OptionPrice[] => [
  { part: 'the stack without users', usd: idleUsd, per: 'month' },
  ...(waf ? [{ part: 'waf', usd: webAclUsd, per: 'month' } as const] : []),
  ...(syntheticCheck ? [{ part: 'syntheticCheck, at most', usd: 1, per: 'month' } as const] : []),
  ...(backup
    ? [
        {
          part: `backup, at most: ${backupCopies} full copies of the table`,
          usd: Number((backupUsdPerGb * backupCopies).toFixed(2)),
          per: 'GB and month',
        } as const,
      ]
    : []),
];
