import type { Service } from '../../../lib/foundation/service.ts';
import { adapty } from './adapty.ts';
import { type ConversionReport, convertExport } from './convert-export.ts';
import { findPlayTokens } from './find-play-tokens.ts';
import type { Mover } from './mover.ts';
import { qonversion } from './qonversion.ts';
import { revenuecat } from './revenuecat.ts';

const movers: Readonly<Record<'revenuecat' | 'adapty' | 'qonversion', Mover>> = { revenuecat, adapty, qonversion };

/** Converts the export of a service. Queries Google Play for the purchase tokens, which exports lack. */
export const convertExportOf = async (
  from: keyof typeof movers,
  path: string,
  { appName, service }: { readonly appName: string; readonly service: Service },
): Promise<ConversionReport> =>
  await convertExport(path, {
    mover: movers[from],
    findTokens: async (orderIds) => await findPlayTokens(service, appName, orderIds),
  });
