import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What npm says of a version when it publishes, and what installing clients are told. */
export interface PublishedVersion {
  readonly name: string;
  readonly version: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly gypfile?: boolean;
}

interface PublishedPackage {
  readonly name: string;
  readonly 'dist-tags': Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, PublishedVersion & { dist: { tarball: string } }>>;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

const installScripts = ['preinstall', 'install', 'postinstall'];

/**
 * A registry on the loopback interface that npm can publish to and install from. It answers
 * `hasInstallScript` as the public registry does, from the published scripts.
 */
export class LocalRegistry {
  readonly #packages = new Map<string, PublishedPackage>();
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** The newest version of a package as it was published. */
  published(name: string): { version: PublishedVersion; tarball: Buffer } {
    const found = this.#packages.get(name);
    const version = found?.versions[found['dist-tags']['latest'] ?? ''];
    const attachment = Object.values(found?._attachments ?? {})[0];
    if (version === undefined || attachment === undefined) throw new Error(`no ${name} published`);
    return { version, tarball: Buffer.from(attachment.data, 'base64') };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [name = '', file] = (request.url ?? '/').slice(1).split('/-/');
    if (request.method === 'PUT') {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      this.#packages.set(name, JSON.parse(Buffer.concat(chunks).toString()) as PublishedPackage);
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"ok":true}');
      return;
    }
    const found = this.#packages.get(name);
    if (found === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
    } else if (file === undefined) {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(this.#packument(found)));
    } else {
      response.writeHead(200).end(this.published(name).tarball);
    }
  }

  #packument({ name, 'dist-tags': tags, versions }: PublishedPackage): object {
    const entries = Object.entries(versions).map(([number, version]) => [
      number,
      {
        ...version,
        hasInstallScript: installScripts.some((script) => script in (version.scripts ?? {})),
        dist: { ...version.dist, tarball: `${this.url}${name}/-/${name}-${number}.tgz` },
      },
    ]);
    return { name, 'dist-tags': tags, versions: Object.fromEntries(entries) as object };
  }
}
