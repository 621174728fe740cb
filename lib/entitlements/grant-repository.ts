import * as v from 'valibot';
import { EntitlementName } from '../api/identifiers.ts';
import type { EpochMillis } from '../shared/time.ts';

/** The API key with which a grant was made or changed. */
export const GrantingKey = v.object({ id: v.string(), name: v.string() });
export type GrantingKey = v.InferOutput<typeof GrantingKey>;

/** Access that the operator gives a customer without a purchase. Times in epoch milliseconds. */
export const Grant = v.object({
  grantId: v.string(),
  username: v.string(),
  entitlement: EntitlementName,
  reason: v.string(),
  createdAt: v.number(),
  createdBy: GrantingKey,
  /** End of access. Absent: until it is revoked. */
  until: v.exactOptional(v.number()),
  /** The last change of `until`. */
  changedAt: v.exactOptional(v.number()),
  changedBy: v.exactOptional(GrantingKey),
  revokedAt: v.exactOptional(v.number()),
  revokedBy: v.exactOptional(GrantingKey),
  /** When a merge of customers moved the grant to another customer. It gives this customer nothing from then on. */
  movedAt: v.exactOptional(v.number()),
  /** The merge that moved the grant, and the id of the grant there. */
  movedBy: v.exactOptional(v.object({ mergeId: v.string(), grantId: v.string() })),
  /** When a merge moved the grant to this customer. */
  receivedAt: v.exactOptional(v.number()),
  /** When the service announced that the grant has ended. */
  endAnnouncedAt: v.exactOptional(v.number()),
  /** Increases with each change. */
  version: v.number(),
});
export type Grant = v.InferOutput<typeof Grant>;

/** A grant in the index of due items: the service announces its end. */
interface DueGrant {
  readonly appName: string;
  readonly username: string;
  readonly grantId: string;
}

/** The grants of all apps. */
export interface GrantRepository {
  /** Lists the grants of a customer, revoked and ended ones included, oldest first. */
  list(appName: string, username: string): Promise<Grant[]>;
  find(appName: string, username: string, grantId: string): Promise<Grant | undefined>;
  /** Returns whether the grant was created. An existing grant with this id is not changed. */
  createIfAbsent(appName: string, grant: Grant): Promise<boolean>;
  /**
   * Replaces the grant with what `change` returns for the stored one. Calls `change` again if another writer
   * interferes. Returns undefined if the grant does not exist. A result equal to the argument is not written.
   */
  update(
    appName: string,
    { username, grantId }: Pick<Grant, 'username' | 'grantId'>,
    change: (grant: Grant) => Grant,
  ): Promise<Grant | undefined>;
  /**
   * Moves a grant to another customer in one transaction. The original stays as an ended one, with `movedAt`. A grant
   * that was moved by the same merge before replaces its original. Returns false if another writer has changed one of
   * them.
   */
  move(
    appName: string,
    grant: Grant,
    move: { readonly to: string; readonly mergeId: string; readonly now: EpochMillis },
  ): Promise<boolean>;
  /** Marks the end of a grant as announced at `now`, unless its end was moved since. */
  announceEnd(grant: DueGrant, now: EpochMillis): Promise<void>;
}
