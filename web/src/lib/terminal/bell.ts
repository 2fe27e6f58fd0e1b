/** A program that rings without end is heard so often. */
const everyMs = 300;
const toneMs = 120;
const hertz = 660;
const loudness = 0.08;

/** The tone of a terminal's bell. Browsers play it once the person has pressed or clicked something in the page. */
export class Bell {
  #audio: AudioContext | undefined;
  #rangAt = Number.NEGATIVE_INFINITY;

  ring(): void {
    if (performance.now() - this.#rangAt < everyMs) return;
    this.#audio ??= new AudioContext();
    const { currentTime, destination } = this.#audio;
    const tone = this.#audio.createOscillator();
    const volume = this.#audio.createGain();
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(loudness, currentTime);
    volume.gain.exponentialRampToValueAtTime(0.001, currentTime + toneMs / 1000);
    tone.connect(volume).connect(destination);
    tone.start();
    tone.stop(currentTime + toneMs / 1000);
    // Opening the sound of the machine may have taken a while.
    this.#rangAt = performance.now();
  }

  dispose(): void {
    void this.#audio?.close();
  }
}
