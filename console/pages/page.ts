import type { ComponentType } from 'preact';
import type { IconName } from '../components/icon.tsx';
import type { RouteQuery } from '../router.tsx';

/** Properties of the component of a page. */
export interface PageProps<Param extends string = never> {
  /** Decoded parameters of the path. */
  readonly params: Readonly<Record<Param, string>>;
  /** Query of the URL: filters, the page of a table, the selected tab. Change it with `changeQuery`. */
  readonly query: RouteQuery;
}

/** Groups of the navigation, in their order. */
export const navigationGroups = ['Business', 'Customers', 'Operation'] as const;

/** A page of the console. */
export interface PageDefinition {
  /** Path in the fragment of the URL, such as `/customers/:user`. */
  readonly path: string;
  /** Title of the tab of the browser. */
  readonly title: string;
  /** Group of the navigation. */
  readonly group?: (typeof navigationGroups)[number];
  /** Icon in the navigation. Without it, the page is reached from others. */
  readonly icon?: IconName;
  /** It shows figures with filters, which links from another such page keep. */
  readonly isFigures?: true;
  /** Only with the store emulator. */
  readonly isLocal?: true;
  /** Loads the code of the page when it is first opened. */
  readonly load: () => Promise<ComponentType<PageProps<string>>>;
}
