/**
 * Every delay, in milliseconds, for which the engine waits for a program, grouped by the code that waits. A shorter delay makes calls faster
 * and guesses more; a longer one makes a hung program cost more. Lifetimes and the delays of protocols, transports and files stay with their
 * owners.
 */
export const timings = {
  /** The answer of a program to what was typed (`answered`). */
  answer: {
    /** A program that answered is done answering after this long without output. */
    quietMs: 50,
    /** A command that was just started and has not ended, as its shell tells, is likely to print more. */
    runningMs: 300,
    /** A program that has not answered at all may be thinking. */
    silentMs: 150,
    /** A program that never stops printing is not waited for any longer. */
    capMs: 2000,
  },
  /** The first prompt of a new terminal (`firstPrompt`). */
  firstPrompt: {
    /** A shell with long start-up files is not waited for any longer, unless the caller says so. */
    startMs: 3000,
    /** A shell that prints something as it starts and shows no prompt may be waiting for an answer. */
    spokenMs: 3000,
    /** A program may print nothing until it is typed into. */
    silentStartMs: 500,
  },
  /** A line to be typed into a new terminal (`readyForLine`). */
  readyForLine: {
    /** A program without marks that is quiet for this long is taken to wait for input. */
    quietMs: 250,
    /** Four times the documented delay: a program that never stops printing still gets its line. */
    capMs: 2000,
  },
  /** Conditions that a caller waits for (`awaitCondition`). */
  condition: {
    /** Without marks, a prompt is only what looks like one and stays. */
    promptQuietMs: 150,
    /** Text that stays at a prompt for this long was not entered. */
    takenMs: 300,
    /** A shell reports an entered line within this time, or keeps the line in its editor. */
    enteredMs: 3000,
  },
  /** Text and its Enter, for programs that draw their own input line (`submit`, `pause`). */
  submit: {
    /** A program that took the text in has drawn it after this long without output. */
    quietMs: 50,
    /** A program that never stops drawing still gets its Enter. */
    capMs: 2000,
    /** A busy program may not have read the text yet; one that shows nothing of it is not waited for any longer. */
    drawMs: 1000,
    /** Between text and Enter, for programs that are not known by name. */
    defaultGapMs: 80,
    /** A program shows within this time that it took Enter. */
    reactMs: 1500,
    /** A program that showed nothing of the text is not likely to show what Enter does. */
    silentMs: 500,
    /** A change of the screen counts when it has lasted this long: a repaint may pass through an empty screen. */
    lastingMs: 40,
  },
  /** Who typed what (`TerminalHistory`). */
  history: {
    /** Keys after a longer pause are an input of their own, also when they go on with a line. */
    lineMs: 10_000,
  },
  /** Who has the keyboard (`KeyboardLease`). */
  keyboardLease: {
    /** The keyboard is free again this long after the last key; agents wait no longer than this for a person. */
    typingMs: 5000,
    /** A person's page renews what it has taken over; without that for so long it is handed back. */
    renewMs: 60_000,
    /** A person who has taken it over and types nothing for so long has it no more: the agents go on. */
    idleMs: 600_000,
    /** A person waits no longer than this for the end of a command before taking it over. */
    commandEndMs: 3_600_000,
    /** A far side that does not take its old size back within this time keeps the new one. */
    restoreMs: 5000,
  },
  /** The keyboard itself. */
  keyboard: {
    /** A program that is interrupted shows some sign of it within this time. */
    reactMs: 100,
    /** No call waits for the answer to a terminal query, and the program may be gone. */
    replyMs: 10_000,
    /** An interrupt that is delivered later than this might hit another program. */
    interruptMs: 2000,
  },
  /** A shell that is still starting when a command is to be run (`whenStarted`). */
  starting: {
    /** A start-up file may have led to a program without marks; its prompt is believed after resting for this long. */
    restsMs: 400,
    /** The same where the processes cannot be seen: the line may be the beginning of one that goes on. */
    unseenMs: 1500,
    /** A forced command does not wait for the first prompt any longer. */
    forcedMs: 3000,
  },
  /** Who reads the command (`placeOf`), and what was typed just before it (`inputTaken`). */
  place: {
    /** A prompt that is being drawn is there within this time. */
    promptMs: 2000,
    /** A program that is not at its prompt within this time is busy. */
    shownMs: 500,
    /** A shell reports the end of a command before it prints anything else. */
    marksMs: 100,
    /** A prompt without evidence is believed after standing for this long. */
    restsMs: 400,
    /** Input that is not answered within this time never will be. */
    limitMs: 1000,
    /** A program that answered is done answering after this long without output. */
    answeredMs: 100,
    /** A program that has not answered at all may be slow to wake up. */
    silentMs: 300,
    /** An interrupted shell draws its prompt again within this time, or never. */
    redrawMs: 5000,
    /** A shell that does not take one part of a long command within this time takes none. */
    preparedMs: 30_000,
  },
  /** A command that runs. */
  run: {
    /** How often a caller that waits is told that the work goes on. */
    heartbeatMs: 5000,
    /** A line editor shows what is typed at once. One that shows nothing for this long has stopped reading its keys. */
    deafMs: 8000,
    /** A shell that tells its directory does so with its next prompt. */
    directoryMs: 300,
  },
  /** A program that waits for input of its own while a command runs (`watchInteractive`). */
  interactive: {
    /** A program that waits for its user has printed everything and is quiet for this long. */
    quietMs: 400,
    /** Where only the screen tells, what looks like a prompt may be the beginning of a line that goes on. */
    unseenMs: 1500,
    /** A full-screen program that never stops drawing is looked at this long after it began to draw, and again at this interval. */
    drawingMs: 1000,
  },
  /** The end of a command, by evidence. */
  marks: {
    /** A shell that drew its prompt anew and does nothing more for this long has not taken the line. */
    redrawnMs: 300,
    /** Some shells keep a line they cannot run yet in their editor, and print nothing. */
    editorMs: 1000,
    /** After Ctrl-C a prompt comes back within this time. */
    cancelMs: 2000,
  },
  sentinel: {
    /** What was typed too early for one shell is run by the next within this time. */
    typedAheadMs: 1000,
    /** A shell whose command was broken off shows its prompt, and nothing after it. */
    quietMs: 250,
  },
  program: {
    /** A program that shows its prompt and prints nothing for this long is done with the line. */
    quietMs: 100,
    /** A program that still asks for more after this long really wants more; it is not just slow to read what it was sent. */
    moreMs: 500,
  },
  /** Answers to terminal queries (`verdictOn`). */
  reply: {
    /** A program that asks before it leaves canonical mode does so within this time. */
    linesMs: 500,
    /** A program that asked and is busy gets its answer within this time, or never. */
    busyMs: 5000,
    /** The end of a command that only printed the query is known within this time, also over a network: its shell comes next. */
    unseenMs: 300,
    /** On the alternate screen nearly every query is one of the program that switched to it. */
    alternateMs: 30,
    /** From one look at a program that does not read yet to the next, at most. */
    longestPauseMs: 100,
    /** An echo takes no longer, also over a slow network. */
    echoMs: 2000,
  },
  /** The foreground program of a terminal whose shell does not mark its commands (`ForegroundWatch`). */
  foreground: {
    /**
     * From one look to the next. A shell starts what was typed after it has echoed it, on a busy machine a good while after. The
     * first gap is for the first sign, the second for a flood.
     */
    gapsMs: [20, 80, 200, 700, 2000],
  },
  /** The environment of a shell, through the files of its integration. */
  environment: {
    /** A shell at its prompt looks within a few milliseconds; one that does not is busy. */
    lookMs: 500,
    /** Files do not tell that they have changed: how often they are looked at. */
    everyMs: 2,
    /** A shell that is just about to wait for input may miss a signal until the next key: it gets a second one, and no third. */
    wakeAgainMs: 100,
  },
  /** The questions of programs (`PromptDetector`). */
  prompts: {
    /**
     * When to look after the newest output. First for what echo being off proves, then for what only text suggests; then a few
     * times more, because a program may print its question before it is ready for the answer.
     */
    looksMs: [40, 150, 450, 900, 2000],
    /** A question that only its text suggests is believed after standing for this long. */
    patientMs: 300,
    /** An agent of the user's may read the terminal for the program in the foreground, as pinentry does for gpg. */
    agentMs: 900,
    /** From then on text alone is believed. */
    textMs: 150,
    /**
     * After that nothing changes unseen, unless the line looks like a question and the program works on: nothing tells when it
     * begins to read. So each look waits for another quarter of the time that has passed. No shell at its prompt is looked at.
     */
    laterMs: { share: 0.25, least: 500, most: 10_000 },
  },
} as const;
