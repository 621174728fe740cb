import * as v from 'valibot';
import { Catalogue } from '../apps/catalogue.ts';

/** A change of the catalogue whose webhooks are not all enqueued. Date in epoch milliseconds. */
export const CatalogueAnnouncement = v.object({
  announcementId: v.string(),
  /** The catalogue before the change. */
  before: Catalogue,
  startedAt: v.number(),
});
export type CatalogueAnnouncement = v.InferOutput<typeof CatalogueAnnouncement>;
