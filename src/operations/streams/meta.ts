import type { ResourceRead } from '../../streams/read-resource.ts';

/** What a read tells besides the content (docs/requirements/remote.md section 3.2). */
export function metaOf(
  { resource, text, lane }: ResourceRead,
  flags: Readonly<Record<string, number>> | undefined,
): Record<string, unknown> {
  const { scheme, status, lastSeq, content, end } = resource;
  const isText = content.type === 'text';
  const cursor = lane?.cursor ?? text?.cursor;
  const truncated = lane?.truncated ?? text?.truncated ?? 0;
  const isRead = cursor === undefined || cursor >= content.end;
  return {
    kind: scheme,
    ...(isText && { cursor, buffer_size: content.end - content.start, buffer_start: content.start }),
    last_seq: lastSeq,
    status,
    ...(truncated > 0 && { truncated_bytes: truncated }),
    eof: lane ? lane.tellsEnd : end !== undefined && isRead,
    ...(end?.exitCode !== undefined && { exit_code: end.exitCode }),
    ...(flags && { flags }),
    ...(text?.isStateless && { auto: 'stateless' }),
    ...(lane && {
      sub_id: lane.subId,
      lagged_events: lane.laggedEvents,
      recovered: lane.isRecovered,
      ...(lane.warnings.length > 0 && { warnings: lane.warnings }),
    }),
  };
}
