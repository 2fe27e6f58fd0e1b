import type { AnyAuthMethod, ParsedKey, Prompt } from 'ssh2';
import { FairleadError } from '../../../contract/errors.ts';
import { remoteError } from '../../../contract/remote-errors.ts';
import { type AgentKey, agentKeys } from './auth-agent.ts';
import { encryptedKey, type KeyFile, readKey } from './keys.ts';
import { said } from '../said.ts';

/** Servers cut a client off after a few refused keys (OpenSSH: MaxAuthTries 6). */
const maxKeys = 6;
/** As often as OpenSSH asks a person. */
const maxQuestions = 3;

export interface PasswordQuestion {
  readonly user: string;
  readonly host: string;
  readonly port: number;
  readonly prompt: string;
  readonly kind: 'password' | 'keyboard-interactive';
}

export type AskPassword = (question: PasswordQuestion, signal: AbortSignal) => Promise<string | undefined>;

/** What may be tried to log in, for one attempt. Paths are absolute. */
export interface Credentials {
  readonly username: string;
  readonly host: string;
  readonly port: number;
  readonly keyPath?: string | undefined;
  readonly password?: string | undefined;
  readonly ask?: AskPassword | undefined;
  /** Keys the SSH config names for this host. */
  readonly identityFiles: readonly string[];
  /** Only those, even when the agent holds more. */
  readonly identitiesOnly: boolean;
  readonly agentSocket?: string | undefined;
  /** Tried only when neither a key nor a password was given. */
  readonly defaultKeys: readonly string[];
}

/**
 * The order in which credentials are tried: the key that was given, the password that was given, keys of the SSH
 * config, keys of the agent, default keys, and last the person.
 */
export class AuthChain {
  readonly #credentials: Credentials;
  readonly #steps: AsyncGenerator<AnyAuthMethod, void>;
  readonly #over = new AbortController();
  /** For the error's text: what was offered, never a secret. */
  readonly #tried: string[] = [];
  readonly #offered = new Set<string>();
  /** What the server says may still help; undefined before its first answer. */
  #methods: readonly string[] | undefined;
  #nobodyAnswered = false;
  /** The person is looking at a question. */
  #asking = false;
  /** Why the person could not be asked: reported to the caller instead of the server's refusal. */
  #notAsked: { readonly cause: unknown } | undefined;
  #password = false;

  #key: KeyFile | undefined;

  constructor(credentials: Credentials, signal: AbortSignal) {
    this.#credentials = credentials;
    this.#steps = this.#run(AbortSignal.any([signal, this.#over.signal]));
  }

  /** Reads the key that was given: a mistake in it needs no server to be found. Rejects with AUTH_KEY_PARSE. */
  async prepare(signal: AbortSignal): Promise<void> {
    const { keyPath } = this.#credentials;
    if (keyPath === undefined) return;
    const file = await readKey(keyPath);
    if (file.kind === 'encrypted' && inAgent(file, await this.#agent(signal)) === undefined)
      throw encryptedKey(keyPath);
    this.#key = file;
  }

  /** Whether a password or an answer took part in this login. */
  get usedPassword(): boolean {
    return this.#password;
  }

  /** Whether the server heard, or waits for, a credential: then a connection that ends is a login that failed. */
  get begun(): boolean {
    return this.#tried.length > 0 || this.#asking;
  }

  /** Whether the person is looking at a question. */
  get asking(): boolean {
    return this.#asking;
  }

  /** The next thing to try, or false when there is nothing left. */
  async next(methods: readonly string[] | undefined): Promise<AnyAuthMethod | false> {
    this.#methods = methods;
    if (this.#notAsked) throw this.#notAsked.cause;
    const step = await this.#steps.next();
    return step.done === true ? false : step.value;
  }

  /** The login came to an end without it: a question that is still open is withdrawn. */
  stop(): void {
    this.#over.abort(new FairleadError('unavailable', 'The login has ended.'));
  }

  failure(): FairleadError {
    const { username, host } = this.#credentials;
    if (this.#asking) return hungUp(username, host);
    const tried = this.#tried.length > 0 ? `it refused ${this.#tried.join(', ')}` : 'there was nothing to offer';
    const accepts = this.#methods === undefined ? '' : `; it accepts ${said(this.#methods.join(', ')) || 'nothing'}`;
    const silence = this.#nobodyAnswered ? '; the password question was not answered' : '';
    return remoteError('AUTH_FAILED', `Cannot log in to ${host} as ${username}: ${tried}${accepts}${silence}.`);
  }

  async *#run(signal: AbortSignal): AsyncGenerator<AnyAuthMethod, void> {
    const { keyPath, password, identityFiles, identitiesOnly, defaultKeys } = this.#credentials;
    if (this.#key !== undefined) yield* this.#keyFile(this.#key, await this.#agent(signal));
    if (password !== undefined) yield* this.#given(password, signal);
    const agent = await this.#agent(signal);
    for (const path of identityFiles) yield* this.#quietly(path, agent);
    if (!identitiesOnly) for (const held of agent) yield* this.#held(held);
    if (keyPath === undefined && password === undefined) {
      for (const path of defaultKeys) yield* this.#quietly(path, agent);
    }
    // Nothing could be tried so far: this asks what could be, and some servers want nothing at all.
    if (this.#methods === undefined) yield { type: 'none', username: this.#credentials.username };
    if (password === undefined) yield* this.#asked(signal);
  }

  /** A default key: skipped if it cannot be used. */
  async *#quietly(path: string, agent: readonly AgentKey[]): AsyncGenerator<AnyAuthMethod, void> {
    const file = await readKey(path).catch(() => undefined);
    if (file !== undefined) yield* this.#keyFile(file, agent);
  }

  *#keyFile(file: KeyFile, agent: readonly AgentKey[]): Generator<AnyAuthMethod, void> {
    if (file.kind === 'key') {
      if (this.#mayOffer(file.key, file.path))
        yield { type: 'publickey', username: this.#user, key: file.key as never };
      return;
    }
    const held = inAgent(file, agent);
    if (held !== undefined) yield* this.#held(held);
  }

  *#held({ key, agent }: AgentKey): Generator<AnyAuthMethod, void> {
    if (this.#mayOffer(key, `a key of the agent (${key.type})`)) yield { type: 'agent', username: this.#user, agent };
  }

  #mayOffer(key: ParsedKey, name: string): boolean {
    const id = key.getPublicSSH().toString('base64');
    if (!this.#allows('publickey') || this.#offered.size >= maxKeys || this.#offered.has(id)) return false;
    this.#offered.add(id);
    this.#tried.push(name);
    return true;
  }

  *#given(password: string, signal: AbortSignal): Generator<AnyAuthMethod, void> {
    if (this.#allows('password')) yield this.#withPassword(password);
    if (this.#allows('keyboard-interactive')) yield this.#interactive(signal, password);
  }

  async *#asked(signal: AbortSignal): AsyncGenerator<AnyAuthMethod, void> {
    if (this.#credentials.ask === undefined) return;
    for (let round = 0; round < maxQuestions && !this.#nobodyAnswered; round += 1) {
      if (this.#allows('password')) {
        const prompt = `${this.#user}@${this.#credentials.host}'s password:`;
        const answer = await this.#ask(prompt, 'password', signal);
        if (answer !== undefined) yield this.#withPassword(answer);
      } else if (this.#allows('keyboard-interactive')) yield this.#interactive(signal);
      else return;
    }
  }

  #withPassword(password: string): AnyAuthMethod {
    this.#password = true;
    this.#tried.push('the password');
    return { type: 'password', username: this.#user, password };
  }

  /** Answers only a single hidden question: the password that was given once, a person after that. */
  #interactive(signal: AbortSignal, password?: string): AnyAuthMethod {
    this.#password = true;
    this.#tried.push('keyboard-interactive');
    let given = password;
    const answer = async (prompts: readonly Prompt[]): Promise<string[]> => {
      const [only] = prompts;
      if (prompts.length !== 1 || only === undefined || only.echo === true) return prompts.map(() => '');
      const reply = given ?? (await this.#ask(said(only.prompt), 'keyboard-interactive', signal));
      given = undefined;
      return [reply ?? ''];
    };
    return {
      type: 'keyboard-interactive',
      username: this.#user,
      prompt: (_name, _instructions, _language, prompts, finish) => {
        answer(prompts).then(finish, (cause: unknown) => {
          this.#notAsked = { cause };
          if (this.#over.signal.aborted) return;
          finish(prompts.map(() => ''));
        });
      },
    };
  }

  async #ask(prompt: string, kind: PasswordQuestion['kind'], signal: AbortSignal): Promise<string | undefined> {
    const { ask, host, port } = this.#credentials;
    this.#asking = true;
    try {
      const answer = await ask?.({ user: this.#user, host, port, prompt, kind }, signal);
      if (answer === undefined) this.#nobodyAnswered = true;
      return answer;
    } finally {
      this.#asking = false;
    }
  }

  async #agent(signal: AbortSignal): Promise<readonly AgentKey[]> {
    const { agentSocket } = this.#credentials;
    return agentSocket === undefined ? [] : agentKeys(agentSocket, signal);
  }

  #allows(method: string): boolean {
    return this.#methods === undefined || this.#methods.includes(method);
  }

  get #user(): string {
    return this.#credentials.username;
  }
}

/** Servers give a login two minutes or less, and a person may need more. */
const hungUp = (username: string, host: string): FairleadError =>
  new FairleadError('needs_person', `${host} closed the connection before the person had answered for ${username}.`, {
    hint: 'Call again: the question stays open, and an answer that the person gives meanwhile is used.',
  });

/** The agent's half of a key file whose passphrase only the agent knows. */
const inAgent = (file: KeyFile & { kind: 'encrypted' }, agent: readonly AgentKey[]): AgentKey | undefined =>
  agent.find(({ key }) => file.publicKey !== undefined && key.getPublicSSH().equals(file.publicKey));
