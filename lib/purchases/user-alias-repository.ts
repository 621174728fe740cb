import type { AliasedUser } from './user-aliases.ts';

/** A customer with the user aliases of a validation. */
export interface ObservedUser extends AliasedUser {
  /**
   * The aliases in the store's observation of the evidence. An alias of the client counts only if the store confirms
   * it.
   */
  readonly storeAliases: readonly string[];
}

export interface Md5Alias {
  readonly alias: string;
  readonly isSaved: boolean;
  readonly purchaseIds: readonly string[];
}

export interface UnclaimedPurchases {
  readonly ownAliases: readonly string[];
  readonly purchaseIds: readonly string[];
}

/** The user aliases of all apps: the forms of a username that stores echo. */
export interface UserAliasRepository {
  /**
   * Reads the MD5 alias of the customer: whether it has been saved, and the ids of the unclaimed purchases that are
   * filed under it, at most `limit`.
   */
  findMd5Alias(appName: string, username: string, limit: number): Promise<Md5Alias>;
  /**
   * Saves the MD5 alias of the customer, and confirmed aliases. A confirmed alias of two customers is contested: it
   * identifies neither of them, because clients choose these aliases freely.
   */
  saveAliases(appName: string, user: ObservedUser): Promise<void>;
  /** Finds the customer of an alias: the username itself, its MD5, its MD5 as a UUID, or a saved alias. */
  findUser(appName: string, alias: string): Promise<string | undefined>;
  /**
   * Lists the other aliases of the customer that do not identify a second customer, whether or not they are saved,
   * and the ids of the unclaimed purchases that are filed under one of them, at most `limit`.
   */
  findUnclaimed(appName: string, user: ObservedUser, limit: number): Promise<UnclaimedPurchases>;
  /** Lists the ids of the unclaimed purchases that are filed under one of the aliases, at most `limit`. */
  listUnclaimedPurchases(appName: string, aliases: readonly string[], limit: number): Promise<string[]>;
}
