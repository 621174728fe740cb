import type { Tool } from './tool.ts';
import { credits } from './tools/credits.ts';
import { customer } from './tools/customer.ts';
import { deliveries } from './tools/deliveries.ts';
import { figures } from './tools/figures.ts';
import { find } from './tools/find.ts';
import { health } from './tools/health.ts';
import { purchase } from './tools/purchase.ts';
import { timeline } from './tools/timeline.ts';
import { whyAccess } from './tools/why-access.ts';

/** All tools, in the order in which clients list them. */
export const tools: readonly Tool[] = [
  whyAccess,
  find,
  customer,
  purchase,
  timeline,
  credits,
  figures,
  deliveries,
  health,
];
