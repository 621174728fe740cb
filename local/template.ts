import * as v from 'valibot';
import { resolveIntrinsics, type TemplateNames } from './intrinsics.ts';

/** A synthesized CloudFormation template, as far as this machine can run it. */
export const Template = v.object({
  Resources: v.record(v.string(), v.object({ Type: v.string(), Properties: v.optional(v.unknown()) })),
});
export type Template = v.InferOutput<typeof Template>;

/** The resources of a type by their logical ids, their properties resolved and of the schema's shape. */
export function listResources<S extends v.GenericSchema>(
  { Resources }: Template,
  type: string,
  { properties, names }: { readonly properties: S; readonly names: TemplateNames },
): ReadonlyMap<string, v.InferOutput<S>> {
  const found = Object.entries(Resources).filter(([, resource]) => resource.Type === type);
  return new Map(
    found.map(
      ([id, resource]) => [id, v.parse(properties, resolveIntrinsics(resource.Properties ?? {}, names))] as const,
    ),
  );
}
