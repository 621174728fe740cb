import { backupRules, warmDays } from './backup-rules.ts';
import type { DeploymentOptions } from './deployment-options.ts';

interface OptionPrice {
  readonly part: string;
  readonly usd: number;
  readonly per: 'month' | 'GB and month';
}

/** The stack without users and options: `npm run bench cost`. */
export const idleUsd = 13.05;

/** A web ACL costs five dollars, and each rule one. @see https://aws.amazon.com/waf/pricing/ */
export const webAclUsd = 5 + 4;

/** @see https://aws.amazon.com/secrets-manager/pricing/ */
const secretUsd = 0.4;

const daysOfMonth = 365 / 12;

/**
 * Dollars of a GB in a month in warm and in cold storage, and of a copied GB to another region.
 * @see https://aws.amazon.com/backup/pricing/
 */
const backupPrices = { warm: 0.1, cold: 0.03, transfer: 0.02 };

/** Storage of all backups of a GB of the table. */
const storageUsd = backupRules.reduce((sum, { intervalDays, deleteAfterDays }) => {
  const toCopies = (days: number): number => days / intervalDays;
  return sum + toCopies(warmDays) * backupPrices.warm + toCopies(deleteAfterDays - warmDays) * backupPrices.cold;
}, 0);
const copiesPerMonth = backupRules.reduce((sum, { intervalDays }) => sum + daysOfMonth / intervalDays, 0);
const copyUsd = storageUsd + copiesPerMonth * backupPrices.transfer;

const toCents = (usd: number): number => Number(usd.toFixed(2));
export const backupUsdPerGb = toCents(storageUsd);
export const backupCopyUsdPerGb = toCents(copyUsd);

/** Lists the prices of the options in us-east-1, without traffic and free tiers. */
export const listPrices = ({
  waf,
  syntheticCheck,
  backup,
  backupCopyVaultArn,
  masterKeyReplicaRegion,
  masterKeyArn,
}: DeploymentOptions): readonly OptionPrice[] => [
  { part: 'the stack without users', usd: idleUsd, per: 'month' },
  ...(waf ? [{ part: 'waf', usd: webAclUsd, per: 'month' } as const] : []),
  ...(syntheticCheck ? [{ part: 'syntheticCheck, at most', usd: 1, per: 'month' } as const] : []),
  ...(backup ? [{ part: 'backup, per GB of the table', usd: backupUsdPerGb, per: 'GB and month' } as const] : []),
  ...(backupCopyVaultArn !== undefined
    ? [{ part: 'backupCopyVaultArn, per GB of the table', usd: backupCopyUsdPerGb, per: 'GB and month' } as const]
    : []),
  ...(masterKeyReplicaRegion !== undefined && masterKeyArn === undefined
    ? [{ part: 'masterKeyReplicaRegion', usd: secretUsd, per: 'month' } as const]
    : []),
];
