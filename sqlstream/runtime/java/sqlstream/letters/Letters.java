package sqlstream.letters;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.Serializable;

/** Where dead letters are kept. */
public interface Letters extends Serializable {
    /** Keeps one, of the task of Spark's that the current thread runs. */
    void keep(ObjectNode letter) throws IOException;
}
