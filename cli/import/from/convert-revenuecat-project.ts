import { writeFile } from 'node:fs/promises';
import type { Service } from '../../../lib/foundation/service.ts';
import { type ConversionReport, writeConversion } from './convert-export.ts';
import { findPlayTokens } from './find-play-tokens.ts';
import { fromRevenueCatCustomer } from './from-revenuecat-customer.ts';
import { findProject, pullRevenueCat, readPulledCustomers } from './pull-revenuecat.ts';
import { readRevenueCatCatalogue } from './revenuecat-catalogue.ts';
import { createRevenueCatClient, type RevenueCatOptions } from './revenuecat-client.ts';

interface ProjectOptions extends RevenueCatOptions {
  readonly appName: string;
  readonly project: string | undefined;
  /** Start of the names of the files. */
  readonly path: string;
  readonly isResumed: boolean;
  readonly onProgress: (customers: number) => void;
  readonly service: Service;
}

export interface ProjectReport extends ConversionReport {
  readonly customers: number;
  /** File for `app set-catalogue`, with the entitlements of the products. */
  readonly catalogueFile: string;
  readonly products: number;
}

/** Reads a project of RevenueCat by its API and converts it. Writes nothing to the table. */
export async function convertRevenueCatProject(options: ProjectOptions): Promise<ProjectReport> {
  const { appName, path, isResumed, signal, onProgress, service } = options;
  const client = createRevenueCatClient(options);
  const project = options.project ?? (await findProject(client));
  const { productIds, catalogue } = await readRevenueCatCatalogue(client, project);
  const catalogueFile = `${path}.catalogue.json`;
  await writeFile(catalogueFile, `${JSON.stringify(catalogue, null, 2)}\n`);
  const customersFile = `${path}.customers.jsonl`;
  await pullRevenueCat({ client, project, path: customersFile, isResumed, signal, onProgress });
  const customers = await readPulledCustomers(customersFile);
  const purchases = customers.flatMap((customer) =>
    fromRevenueCatCustomer(customer, { productIds, now: service.now() }),
  );
  const report = await writeConversion(path, purchases, {
    findTokens: async (orderIds) => await findPlayTokens(service, appName, orderIds),
  });
  return { ...report, customers: customers.length, catalogueFile, products: Object.keys(catalogue).length };
}
