package sqlstream.checkpoints;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sqlstream.catalyst.SparkCalls;

/**
 * A file of a checkpoint's offsets: how far each source was read. In version 1 sources are known by their places, in
 * version 2, which Spark has from 4.3 on, by their names.
 */
final class Offsets {
    /** That of a source that was not read. */
    static final String NONE = "-";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String BY_PLACE = "v1";
    private static final String BY_NAME = "v2";

    final ObjectNode metadata;
    private final boolean named;
    private final List<String> lines;

    private Offsets(ObjectNode metadata, boolean named, List<String> lines) {
        this.metadata = metadata;
        this.named = named;
        this.lines = lines;
    }

    static Offsets read(Place place, long batch) throws IOException {
        String[] lines = place.read("offsets/" + batch).strip().split("\n");
        if (!lines[0].equals(BY_PLACE) && !lines[0].equals(BY_NAME)) {
            throw new IllegalStateException("The offsets in " + place.path + " have version " + lines[0]
                    + ", of which this release reads v1 and v2.");
        }
        return new Offsets(
                (ObjectNode) JSON.readTree(lines[1]),
                lines[0].equals(BY_NAME),
                List.of(lines).subList(2, lines.length));
    }

    /** That of a source with this name, which was the one in this place. */
    String of(String name, int place) {
        if (!named) {
            return place < lines.size() ? lines.get(place) : NONE;
        }
        String beginning = name + ":";
        return lines.stream()
                .filter(line -> line.startsWith(beginning))
                .map(line -> line.substring(beginning.length()))
                .findFirst()
                .orElse(NONE);
    }

    /** The same file for the release of Spark that runs. */
    String text() throws IOException {
        if (named != SparkCalls.namedOffsets()) {
            throw new IllegalStateException("The names of the sources are needed.");
        }
        return text(lines);
    }

    /** A file for the release of Spark that runs: of sources with these names and offsets. */
    String text(List<String> names, List<String> offsets) throws IOException {
        if (!SparkCalls.namedOffsets()) {
            return text(offsets);
        }
        List<String> written = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            written.add(names.get(i) + ":" + offsets.get(i));
        }
        return text(written);
    }

    private String text(List<String> written) throws IOException {
        ObjectNode told = metadata.deepCopy();
        if (SparkCalls.namedOffsets() && !told.has("sourceMetadataInfo")) {
            told.set("sourceMetadataInfo", JSON.createObjectNode());
        }
        String version = SparkCalls.namedOffsets() ? BY_NAME : BY_PLACE;
        return version + "\n" + JSON.writeValueAsString(told) + "\n" + String.join("\n", written);
    }
}
