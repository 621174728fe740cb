/** Hours of access after the expiration date of a renewing subscription while its store cannot be queried. */
export const defaultUnverifiedHours = 24;

/** Maximum that an app can set. */
export const maxUnverifiedHours = 168;
